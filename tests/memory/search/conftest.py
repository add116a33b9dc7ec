"""A SQLite library to search, on one event loop, so that properties can be tried many times on one file."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.database import Database
from memory.search.index import SqliteSearchIndex
from memory.search.service import Knowledge
from settings.settings import Settings
from tests.bulk import store


@pytest.fixture
def index() -> SqliteSearchIndex:
    return SqliteSearchIndex()


@pytest.fixture
async def knowledge(sqlite_db: Database, index: SqliteSearchIndex) -> Knowledge:
    await store(sqlite_db, index, [])
    return Knowledge(sqlite_db, index)


class Library:
    """A database opened once; `run` works on its loop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runner = asyncio.Runner()
        self.run = self._runner.run
        self.db = self.run(Database.open(Settings(_env_file=None, data_dir=folder)))  # type: ignore[call-arg]
        self.index = SqliteSearchIndex()
        self.knowledge = Knowledge(self.db, self.index)
        self.run(store(self.db, self.index, []))

    def close(self) -> None:
        self.run(self.db.close())
        self._runner.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    opened = Library(tmp_path_factory.mktemp("library"))
    yield opened
    opened.close()
