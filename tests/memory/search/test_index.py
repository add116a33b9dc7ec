"""The index against brute force, on a file and its transactions."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, text, update

from memory.database import Database
from memory.maintenance import maintain
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.maintenance import ensure_current
from memory.search.rows import index_row
from memory.search.service import Knowledge
from memory.search.text import normalise
from memory.search.types import Filters
from memory.tables import Analysis, Asset, Meta, Photo
from tests.bulk import Shot, store, store_texts
from tests.memory.search.conftest import Library

SCOPE = Scope(owner="local")
owners = (f"owner{number}" for number in itertools.count())
words = st.text(alphabet="橘猫貓围巾圍去杭州的龍龙，。 \n", min_size=1, max_size=12)
queries = st.text(alphabet="橘猫貓围巾圍去杭州的龍龙", min_size=1, max_size=4)
steps = st.lists(st.tuples(st.sampled_from(["insert", "insert", "update", "delete", "rebuild"]), words, st.integers(0, 9)), max_size=12)


async def _set_text(library: Library, photo_id: int, ocr_text: str) -> None:
    async with library.db.begin() as session:
        await session.execute(update(Analysis).where(Analysis.photo_id == photo_id).values(ocr_text=ocr_text))
        photo, analysis = (await session.execute(select(Photo, Analysis).join(Analysis).where(Photo.id == photo_id))).one()
        await library.index.put(session, index_row(photo, analysis))


async def _delete(library: Library, photo_id: int) -> None:
    async with library.db.begin() as session:
        await library.index.remove(session, photo_id)
        asset_id = await session.scalar(select(Photo.asset_id).where(Photo.id == photo_id))
        await session.execute(delete(Asset).where(Asset.id == asset_id))


async def _play(library: Library, owner: str, played: list[tuple[str, str, int]]) -> dict[int, str]:
    """Do the steps; returns the texts that are left."""
    texts: dict[int, str] = {}
    for step, written, number in played:
        chosen = list(texts)[number % len(texts)] if texts else None
        if step == "insert":
            (photo_id,) = await store_texts(library.db, library.index, [written], owner=owner)
            texts[photo_id] = written
        elif step == "update" and chosen:
            await _set_text(library, chosen, written)
            texts[chosen] = written
        elif step == "delete" and chosen:
            await _delete(library, chosen)
            del texts[chosen]
        elif step == "rebuild":
            async with library.db.begin() as session:
                await library.index.rebuild(session)
    return texts


@settings(max_examples=40, deadline=None)
@given(played=steps, query=queries)
def test_search_equals_brute_force(library: Library, played: list[tuple[str, str, int]], query: str) -> None:
    owner = next(owners)
    texts = library.run(_play(library, owner, played))
    expected = {photo_id for photo_id, written in texts.items() if normalise(query) in normalise(written)}
    found = library.run(library.knowledge.search(query, scope=Scope(owner=owner), limit=50))
    got = {hit.photo_id for hit in found.hits} if found.tier == "phrase" else set()
    assert got == expected
    assert found.tier != "phrase" or found.total == len(expected)


@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    written=st.lists(
        st.sampled_from(["乘", "高铁", "G7315次", "，", " ", "¥295.00元", "iPhone15の", "取件码", "7-3-2208 ", "店"]),
        min_size=3,
        max_size=9,
    ),
)
def test_mixed_windows_find_their_row(library: Library, data: st.DataObject, written: list[str]) -> None:
    owner = next(owners)
    (photo_id,) = library.run(store_texts(library.db, library.index, ["".join(written)], owner=owner))
    begin = data.draw(st.integers(0, len(written) - 1))
    window = "".join(written[begin : data.draw(st.integers(begin + 1, len(written)))])
    found = library.run(library.knowledge.search(window, scope=Scope(owner=owner)))
    searchable = any(character.isalnum() for character in window)
    assert [hit.photo_id for hit in found.hits] == ([photo_id] if searchable else [])
    assert found.tier == ("phrase" if searchable else None)


@settings(max_examples=150, deadline=None)
@given(query=st.text(max_size=60) | st.text(alphabet="\"'*():^-+%_\\ ANDORNEAT猫3;{}", max_size=30))
def test_no_text_is_an_error_or_a_wildcard(library: Library, query: str) -> None:
    owner = next(owners)
    library.run(store_texts(library.db, library.index, ["纯粹的文字"], owner=owner))
    found = library.run(library.knowledge.search(query, scope=Scope(owner=owner)))
    assert not found.hits or set(normalise(query)) & set("纯粹的文字其他忽略otherignspg")


@settings(max_examples=30, deadline=None)
@given(
    shots=st.lists(st.tuples(st.sampled_from("甲乙"), st.sampled_from("一二"), st.sampled_from(["done", "pending"]), words), max_size=8),
    query=queries,
    devices=st.sampled_from([None, ("一",), ("三",), ()]),
)
def test_no_read_leaves_its_scope(
    library: Library, shots: list[tuple[str, str, str, str]], query: str, devices: tuple[str, ...] | None
) -> None:
    prefix = next(owners)
    rows = [Shot(text=written, owner=prefix + owner, device=device, status=status) for owner, device, status, written in shots]
    ids = library.run(store(library.db, library.index, rows))
    scope = Scope(owner=f"{prefix}甲", devices=devices)
    allowed = {
        photo_id
        for photo_id, shot in zip(ids, rows, strict=True)
        if shot.owner == scope.owner and shot.status == "done" and (devices is None or shot.device in devices)
    }
    knowledge = library.knowledge
    reads = [
        knowledge.search(query, scope=scope),
        knowledge.search_multi([query, "猫"], scope=scope),
        knowledge.recent(scope=scope, limit=50),
        knowledge.all_matching(query, scope=scope),
        knowledge.all_matching("", scope=scope),
    ]
    results = [library.run(read) for read in reads]
    assert all({hit.photo_id for hit in result.hits} <= allowed and result.total <= len(allowed) for result in results)
    assert {hit.photo_id for hit in results[2].hits} == allowed


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("橘", "一只橘猫"),
        ("猫", "一只橘猫"),
        ("¥295", "实付 ¥295.00"),
        ("1280", "合计 ¥1,280.00"),
        ("1,280", "合计 ¥1,280.00"),
        ("g7315", "G7315 次"),
        ("ｇ７３１５", "G7315 次"),
        ("7-3-2208", "取件码 7-3-2208"),
        ("驗證碼", "验证码 483920"),
        ("验证码", "驗證碼 483920"),
        ("4839", "验证码 483920"),
        ("🍊", "买🍊三斤"),
    ],
)
async def test_finds_what_is_there(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex, query: str, written: str) -> None:
    _, wanted = await store_texts(sqlite_db, index, ["别的内容", written])
    found = await knowledge.search(query, scope=SCOPE)
    assert [hit.photo_id for hit in found.hits] == [wanted]
    assert found.tier == "phrase"


async def test_tiers(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    await store_texts(sqlite_db, index, ["订单 ORD20261125 已发货", "围巾到了驿站"])
    assert (await knowledge.search("已发货", scope=SCOPE)).tier == "phrase"
    assert (await knowledge.search("驿站里的围巾", scope=SCOPE)).tier == "words"
    partial = await knowledge.search("1125", scope=SCOPE)
    assert (partial.tier, partial.weak, len(partial.hits)) == ("partial", True, 1)
    assert (await knowledge.search("护照", scope=SCOPE)).hits == []


async def test_weak_when_little_of_the_question_is_covered(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    texts = ["驾驶证有效期至 2030 年", "跑步 5 公里 用时 31 分", "酒店预订成功 入住 12月3日", "电费账单 83.2 元"]
    await store_texts(sqlite_db, index, texts)
    assert not (await knowledge.search("驾驶证的有效期到哪天？", scope=SCOPE)).weak
    assert (await knowledge.search("健身房年卡有效期还剩多少天", scope=SCOPE)).weak


async def test_asking_words_that_the_text_holds_break_a_tie(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    wanted, _ = await store_texts(sqlite_db, index, ["围巾什么时候现在去的", "围巾在杭州买到了一条"])
    found = await knowledge.search("请问围巾还在什么时候", scope=SCOPE)
    assert found.hits[0].photo_id == wanted


async def test_labels_and_entity_values_are_searchable_not_their_json(
    knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex
) -> None:
    entities = [{"type": "人名", "value": "林小满"}]
    await store(sqlite_db, index, [Shot(text="转账成功", category="finance", intent="reminder", entities=entities), Shot(text="别的")])
    for query in ("金融", "财务", "finance", "提醒", "林小满"):
        assert len((await knowledge.search(query, scope=SCOPE)).hits) == 1, query
    for query in ("人名", "type", "value"):
        assert not (await knowledge.search(query, scope=SCOPE)).hits, query


async def test_a_summary_weighs_more_than_text(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    ids = await store(sqlite_db, index, [Shot(text="火锅 很好", summary="聚餐"), Shot(text="很好 聚餐", summary="火锅")])
    assert [hit.photo_id for hit in (await knowledge.search("火锅", scope=SCOPE)).hits] == ids[::-1]


async def test_another_version_rebuilds(sqlite_db: Database, index: SqliteSearchIndex) -> None:
    await store_texts(sqlite_db, index, ["橘猫", "围巾"])
    assert await ensure_current(sqlite_db, index) is None
    async with sqlite_db.begin() as session:
        await session.execute(update(Meta).where(Meta.key == "index_version").values(value="older"))
        await session.execute(text("DELETE FROM search_fts"))
    assert await ensure_current(sqlite_db, index) == 2
    assert await ensure_current(sqlite_db, index) is None
    assert (await Knowledge(sqlite_db, index).search("橘猫", scope=SCOPE)).total == 1


async def test_an_index_made_over_analysed_photos_is_due(sqlite_db: Database, index: SqliteSearchIndex) -> None:
    await store_texts(sqlite_db, index, ["橘猫"])
    async with sqlite_db.begin() as session:
        await session.execute(text("DROP TABLE search_terms"))
        await session.execute(text("DROP TABLE search_fts"))
        await session.execute(delete(Meta))
        await index.create(session)
    assert await ensure_current(sqlite_db, index) == 1


async def test_a_rolled_back_row_is_not_found(sqlite_db: Database, index: SqliteSearchIndex, knowledge: Knowledge) -> None:
    (photo_id,) = await store_texts(sqlite_db, index, ["橘猫"])
    async with sqlite_db.begin() as session:
        await index.remove(session, photo_id)
        await session.rollback()
    assert (await knowledge.search("橘猫", scope=SCOPE)).total == 1


def test_deleted_text_leaves_no_byte(library: Library) -> None:
    """After maintenance neither text nor tokens are in an index segment, a free page or the log."""
    code = "qzxv48392077"
    owner = next(owners)
    kept = library.run(store_texts(library.db, library.index, [f"保留的内容 {n}" for n in range(50)], owner=owner))
    gone = library.run(store_texts(library.db, library.index, [f"验证码 {code} 鑫龘靐"] * 3, owner=owner))
    for photo_id in gone:
        library.run(_delete(library, photo_id))
    library.run(maintain(library.db, library.index))
    files = [file for file in library.folder.rglob("*") if file.is_file()]
    found = [file.name for file in files if any(word.encode() in file.read_bytes() for word in (code, "鑫龘", "龘靐"))]
    assert found == []
    assert library.run(library.knowledge.recent(scope=Scope(owner=owner), limit=1)).total == len(kept)


async def test_filters(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    shots = [Shot(text="拿铁 32 元", app="支付宝", category="finance"), Shot(text="拿铁 28 元", app="美团", category="shopping")]
    first, second = await store(sqlite_db, index, shots)
    assert [hit.photo_id for hit in (await knowledge.search("拿铁", scope=SCOPE, filters=Filters(app="美团"))).hits] == [second]
    assert [hit.photo_id for hit in (await knowledge.search("拿铁", scope=SCOPE, filters=Filters(category="finance"))).hits] == [first]
