"""What makes deleted text disappear from the disk, and keeps the file small."""

from memory.database import Database
from memory.search.types import SearchIndex


async def maintain(db: Database, index: SearchIndex) -> None:
    """Merge the index's segments (terms of deleted rows linger in old ones), then give free pages and the log back.

    To be run now and then and after deletions; safe while others read and write.
    """
    async with db.begin() as session:
        await index.optimise(session)
    await db.compact()
