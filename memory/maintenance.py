"""What makes deleted text disappear from the disk, and keeps the file small."""

from sqlalchemy import text

from memory.database import Database
from memory.search.types import SearchIndex

_GIVE_BACK = ("incremental_vacuum", "wal_checkpoint(TRUNCATE)")


async def maintain(db: Database, index: SearchIndex) -> None:
    """Merge the index's segments (terms of deleted rows linger in old ones), then give free pages and the log back.

    To be run now and then and after deletions; safe while others read and write. PostgreSQL vacuums by itself.
    """
    async with db.begin() as session:
        await index.optimise(session)
    if db.dialect == "sqlite":
        async with db.autocommit() as session:
            for pragma in _GIVE_BACK:
                (await session.execute(text(f"PRAGMA {pragma}"))).all()
