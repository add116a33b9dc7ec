"""The graph's checkpoints, in a file of their own that stays as large as a few turns of each conversation."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from memory.blobs import private_folder
from settings.settings import Settings

FILE_NAME = "checkpoints.db"
_PRAGMAS = (
    "busy_timeout=30000",
    "auto_vacuum=INCREMENTAL",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "secure_delete=ON",
    "wal_autocheckpoint=256",
)


@asynccontextmanager
async def open_saver(settings: Settings) -> AsyncIterator[AsyncSqliteSaver]:
    """The process's one saver. State is JSON and messages: a checkpoint that holds any other type is not loaded."""
    folder = await asyncio.to_thread(private_folder, settings.data_dir)
    async with aiosqlite.connect(folder / FILE_NAME) as connection:
        for pragma in _PRAGMAS:
            await connection.execute(f"PRAGMA {pragma}")
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        yield saver


async def prune_thread(saver: AsyncSqliteSaver, thread_id: str, *, keep: int) -> None:
    """Keep the thread's last `keep` checkpoints and what its subgraphs wrote since; not while a run writes to it.

    Checkpoint ids ascend with time. A turn that waits for the user is the last checkpoint, so it stays.
    """
    oldest_kept = (
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '' "
        "ORDER BY checkpoint_id DESC LIMIT 1 OFFSET :keep - 1"
    )
    values = {"thread": thread_id, "keep": keep}
    async with saver.lock:
        for table in ("checkpoints", "writes"):
            await saver.conn.execute(f"DELETE FROM {table} WHERE thread_id = :thread AND checkpoint_id < ({oldest_kept})", values)
        await saver.conn.commit()


async def delete_thread(saver: AsyncSqliteSaver, thread_id: str) -> None:
    """Remove every checkpoint of the thread, also from the file's free pages."""
    await saver.adelete_thread(thread_id)
    await compact(saver)


async def compact(saver: AsyncSqliteSaver) -> None:
    """Give free pages back to the file system and empty the write-ahead log."""
    async with saver.lock:
        await saver.conn.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
