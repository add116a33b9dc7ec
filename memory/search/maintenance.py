"""Making the index fit this version."""

from memory.database import Database
from memory.search.index import SqliteSearchIndex


async def ensure_current(db: Database, index: SqliteSearchIndex) -> int | None:
    """Rebuild the index if another version cut it; returns how many photos it holds then, None if nothing was due."""
    async with db.session() as session:
        if await index.is_current(session):
            return None
    async with db.begin() as session:
        return await index.rebuild(session)
