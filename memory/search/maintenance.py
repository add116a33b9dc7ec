"""Making deleted text leave the file, and the index fit this version."""

from sqlalchemy import text

from memory.database import Database
from memory.search.index import SqliteSearchIndex


async def ensure_current(db: Database, index: SqliteSearchIndex) -> int | None:
    """Rebuild the index if another version cut it; returns how many photos it holds then, None if nothing was due."""
    async with db.session() as session:
        if await index.is_current(session):
            return None
    async with db.begin() as session:
        return await index.rebuild(session)


async def purge(db: Database, index: SqliteSearchIndex) -> None:
    """Leave nothing of deleted rows in index segments, free pages or the write-ahead log.

    Needs connections with `secure_delete`, which overwrites what a merge or a deletion frees.
    """
    async with db.begin() as session:
        await index.optimise(session)
    async with db.autocommit() as session:
        await session.execute(text("PRAGMA incremental_vacuum"))
        await session.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
