"""The application's database: one SQLite file (default) or PostgreSQL, brought to the newest schema when opened."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Literal, Self, cast
from weakref import WeakKeyDictionary

from sqlalchemy import AdaptedConnection, Connection, Engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from memory.blobs import private_folder
from memory.migrations import migrate
from settings.settings import Settings

Dialect = Literal["sqlite", "postgresql"]
Prepare = Callable[[AsyncSession], Awaitable[None]]
BUSY_TIMEOUT_MS = 30_000
_PRAGMAS = (
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "auto_vacuum=INCREMENTAL",  # only a file without tables takes it, and before WAL
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "secure_delete=ON",
    "mmap_size=268435456",  # 256 MiB: a third off the median of a phrase search over 100,000 rows
)
_COMPACT = f"""
PRAGMA incremental_vacuum;
PRAGMA busy_timeout=200;
PRAGMA wal_checkpoint(TRUNCATE);
PRAGMA busy_timeout={BUSY_TIMEOUT_MS};
"""


class _Connected:
    """An engine of one event loop and its two kinds of sessions."""

    def __init__(self, engine: AsyncEngine) -> None:
        on_sqlite = engine.dialect.name == "sqlite"
        reading = engine if on_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        writing = engine.execution_options(sqlite_begin="IMMEDIATE")
        self.engine = engine
        self.reads = async_sessionmaker(reading, expire_on_commit=False)
        self.writes = async_sessionmaker(writing, expire_on_commit=False)
        self.turn: AbstractAsyncContextManager[None] = asyncio.Lock() if on_sqlite else nullcontext()


class Database:
    """Sessions. Reads see one snapshot; writers of one SQLite file take turns.

    Making one touches nothing: it connects, and migrates, at the first use in an event loop, so that a graph can be built on it
    at import. Safe when several processes open the same database at once.
    """

    def __init__(self, settings: Settings, *, prepare: Prepare | None = None) -> None:
        """`prepare` runs in a transaction of its own, each time a connection was opened and migrated."""
        self._settings = settings
        self._prepare = prepare
        self._connected: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[_Connected]] = WeakKeyDictionary()

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Connect now: make the data folder (0700) if absent and migrate."""
        db = cls(settings)
        await db._here()
        return db

    async def _here(self) -> _Connected:
        loop = asyncio.get_running_loop()
        opening = self._connected.get(loop)
        if opening is None or (opening.done() and (opening.cancelled() or opening.exception())):
            opening = self._connected[loop] = loop.create_task(self._connect())
        return await asyncio.shield(opening)

    async def _connect(self) -> _Connected:
        here = _Connected(await asyncio.to_thread(_prepared_engine, self._settings))
        if self._prepare is not None:
            async with here.writes.begin() as session:
                await self._prepare(session)
        return here

    @property
    def dialect(self) -> Dialect:
        return cast(Dialect, make_url(self._settings.sqlalchemy_url).get_backend_name())

    @asynccontextmanager
    async def session(self) -> AsyncIterator[AsyncSession]:
        """A session to read with: what it sees does not change while it is open. Nothing is committed."""
        here = await self._here()
        async with here.reads() as session:
            yield session

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncSession]:
        """A transaction: committed at the end of the block, rolled back by an exception. Not to be nested."""
        here = await self._here()
        async with here.turn, here.writes.begin() as session:
            yield session

    async def compact(self) -> None:
        """Give free pages back to the file system and empty the write-ahead log. PostgreSQL vacuums by itself.

        Emptying the log holds writers up, so it does not wait for a reader that takes long: the next call does it then.
        """
        here = await self._here()
        if self.dialect == "sqlite":
            async with here.engine.execution_options(sqlite_begin=None).connect() as connection:
                raw = await connection.get_raw_connection()
                # A pragma without columns is stepped only once by `execute`, and each step frees one page.
                await cast(Any, raw.driver_connection).executescript(_COMPACT)

    def insert(self, table: Any) -> Any:
        """An INSERT of this dialect that knows `on_conflict_do_update`, spelled alike on both."""
        return sqlite.insert(table) if self.dialect == "sqlite" else postgresql.insert(table)

    async def close(self) -> None:
        """Let go of this event loop's connections; the next use connects anew."""
        opening = self._connected.pop(asyncio.get_running_loop(), None)
        if opening is not None:
            await (await opening).engine.dispose()


def _prepared_engine(settings: Settings) -> AsyncEngine:
    """Blocking: folders, migration and driver imports have no place in the event loop."""
    private_folder(settings.data_dir)
    url = make_url(settings.sqlalchemy_url)
    migrate(url, prepare=configure_sqlite)
    engine = create_async_engine(url)
    configure_sqlite(engine.sync_engine)
    return engine


def configure_sqlite(engine: Engine) -> None:
    """Pragmas on connect, and explicit BEGIN: the driver's own would start a transaction only at the first write.

    A transaction that reads first and writes later fails at once when another writer was faster (no busy timeout
    applies), so transactions of `Database.begin` take the write lock at their start.
    """
    if engine.dialect.name != "sqlite":
        return

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
        if mode is not None:
            _execute(connection.connection.dbapi_connection, f"BEGIN {mode}")


def _execute(connection: Any, statement: str) -> None:
    """On the driver itself: a cursor of the engine costs three more changes of threads."""
    if isinstance(connection, AdaptedConnection):
        connection.run_async(lambda driver: driver.execute(statement))
    else:
        connection.execute(statement)
