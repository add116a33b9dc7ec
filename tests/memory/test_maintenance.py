from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from sqlalchemy import text

from memory.conversations import Conversations
from memory.database import Database
from memory.maintenance import maintain
from memory.photos import Photos
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.text import index_tokens
from settings import Settings
from tests.memory.library import NOW, Clock, new_photo, result

ANN = Scope("ann")
PRIVATE = "账号 6222-0099-qz8877 余额翡翠"  # no hexadecimal number, which any id might hold


@pytest.fixture
async def photos(sqlite_db: Database) -> Photos:
    index = SqliteSearchIndex()
    async with sqlite_db.begin() as session:
        await index.create(session)
    return Photos(sqlite_db, index, clock=Clock())


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("evatar.db*"))


def traces(folder: Path) -> set[str]:
    """Which words of the secret can be read in the database's files, or can be guessed from an index term there."""
    held = on_disk(folder)
    words = {*PRIVATE.split(), "翡翠", "翡", "qz8877", *index_tokens("翡翠 qz8877")}
    return {word for word in words if word.encode() in held}


async def add(photos: Photos, name: str, content: str) -> int:
    photo_id, _ = await photos.add(new_photo(name))
    await photos.save_analysis(photo_id, result(content, entities=[{"type": "金额", "value": content}]))
    return photo_id


async def test_nothing_of_a_deleted_photo_stays_in_the_file(photos: Photos, sqlite_db: Database, sqlite_settings: Settings) -> None:
    for number in range(60):
        await add(photos, f"before-{number}", f"第{number}张普通截图 天气晴 {number * 7919}")
    secret = await add(photos, "secret", PRIVATE)
    for number in range(60):
        await add(photos, f"after-{number}", f"第{number}张寻常截图 会议室 {number * 104729}")
    assert {"翡翠", "qz8877"} <= traces(sqlite_settings.data_dir)
    await photos.delete(secret, scope=ANN)
    await maintain(sqlite_db, SqliteSearchIndex())
    assert traces(sqlite_settings.data_dir) == set()


async def test_nothing_of_an_overwritten_analysis_stays(photos: Photos, sqlite_db: Database, sqlite_settings: Settings) -> None:
    photo_id = await add(photos, "a", PRIVATE)
    await photos.requeue(scope=ANN, photo_ids=[photo_id])
    await photos.save_analysis(photo_id, result("别的内容", entities=[]))
    await maintain(sqlite_db, SqliteSearchIndex())
    assert traces(sqlite_settings.data_dir) == set()


async def test_nothing_of_a_deleted_conversation_stays(photos: Photos, sqlite_db: Database, sqlite_settings: Settings) -> None:
    conversations = Conversations(sqlite_db)
    await conversations.record(owner="ann", conversation_id="ab", messages=[HumanMessage(PRIVATE, id="u")], at=NOW)
    await conversations.delete("ab", scope=ANN)
    await maintain(sqlite_db, SqliteSearchIndex())
    assert traces(sqlite_settings.data_dir) == set()


async def test_free_pages_go_back_to_the_file_system(photos: Photos, sqlite_db: Database, sqlite_settings: Settings) -> None:
    file = sqlite_settings.data_dir / "evatar.db"
    await maintain(sqlite_db, SqliteSearchIndex())
    small = file.stat().st_size
    ids = [await add(photos, str(number), f"{number} " + "长文字" * 2000) for number in range(40)]
    await maintain(sqlite_db, SqliteSearchIndex())
    assert file.stat().st_size > 2 * small
    for photo_id in ids:
        await photos.delete(photo_id, scope=ANN)
    await maintain(sqlite_db, SqliteSearchIndex())
    assert file.stat().st_size < 1.2 * small
    async with sqlite_db.session() as session:
        assert await session.scalar(text("PRAGMA freelist_count")) == 0
        assert await session.scalar(text("PRAGMA integrity_check")) == "ok"


async def test_maintenance_does_not_disturb_readers(photos: Photos, sqlite_db: Database) -> None:
    photo_id = await add(photos, "a", "内容")
    async with sqlite_db.session() as reader:
        before = await reader.scalar(text("SELECT count(*) FROM photos"))
        await photos.delete(photo_id, scope=ANN)
        await maintain(sqlite_db, SqliteSearchIndex())
        assert await reader.scalar(text("SELECT count(*) FROM photos")) == before
