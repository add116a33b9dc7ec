from datetime import timedelta

import pytest

from memory.database import Database
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.service import Knowledge
from memory.search.types import Filters, TimeRange
from tests.bulk import FIRST, Shot, store, store_texts

SCOPE = Scope(owner="local")
DAY = timedelta(days=1)


def day(number: int) -> TimeRange:
    return TimeRange(FIRST + number * DAY, FIRST + (number + 1) * DAY, "那天")


@pytest.fixture
async def ids(sqlite_db: Database, index: SqliteSearchIndex) -> list[int]:
    texts = ["拿铁 32 元", "橙汁 18 元", "拿铁与可颂 45 元", "高铁 G102 北京南"]
    return await store(sqlite_db, index, [Shot(text=text, at=FIRST + number * DAY) for number, text in enumerate(texts)])


async def test_a_filter_that_fits_is_kept(knowledge: Knowledge, ids: list[int]) -> None:
    found = await knowledge.search("拿铁", scope=SCOPE, filters=Filters(time=day(2)))
    assert ([hit.photo_id for hit in found.hits], found.filter_dropped) == ([ids[2]], False)


async def test_a_filter_that_leaves_nothing_is_dropped_and_told(knowledge: Knowledge, ids: list[int]) -> None:
    found = await knowledge.search("拿铁", scope=SCOPE, filters=Filters(time=day(1)))
    assert ({hit.photo_id for hit in found.hits}, found.filter_dropped) == ({ids[0], ids[2]}, True)
    assert found.filters == Filters(time=day(1))


async def test_a_filter_stays_when_dropping_it_finds_nothing_either(knowledge: Knowledge, ids: list[int]) -> None:
    found = await knowledge.search("护照", scope=SCOPE, filters=Filters(time=day(1)))
    assert (found.hits, found.filter_dropped) == ([], False)


async def test_recent_is_newest_first_and_counts_all(knowledge: Knowledge, ids: list[int]) -> None:
    found = await knowledge.recent(scope=SCOPE, limit=2)
    assert ([hit.photo_id for hit in found.hits], found.total) == (ids[:1:-1], 4)


async def test_all_matching_counts_every_row(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    await store_texts(sqlite_db, index, [f"咖啡 {number} 杯" for number in range(40)] + ["茶"])
    assert (await knowledge.all_matching("咖啡", scope=SCOPE)).total == 40
    assert (await knowledge.all_matching("几杯咖啡", scope=SCOPE)).total == 40
    assert (await knowledge.all_matching("", scope=SCOPE)).total == 41


async def test_search_multi_ranks_jointly(knowledge: Knowledge, sqlite_db: Database, index: SqliteSearchIndex) -> None:
    texts = [f"火车 {number}" for number in range(9)] + [f"机票 {number}" for number in range(9)] + ["导航"] * 9 + ["火车 机票 联程"]
    both = (await store_texts(sqlite_db, index, texts))[-1]
    found = await knowledge.search_multi(["火车", "机票", "导航", "火车", " "], scope=SCOPE)
    assert len(found.hits) == 12
    assert found.hits[0].photo_id == both
    assert found.hits[0].keywords == ("火车", "机票")
    brought = [keyword for hit in found.hits[1:] for keyword in hit.keywords]
    assert all(brought.count(keyword) <= 5 for keyword in ("火车", "机票", "导航"))


async def test_search_multi_names_every_keyword_that_a_hit_holds(knowledge: Knowledge, ids: list[int]) -> None:
    found = await knowledge.search_multi(["拿铁", "可颂"], scope=SCOPE)
    assert {hit.photo_id: hit.keywords for hit in found.hits} == {ids[2]: ("拿铁", "可颂"), ids[0]: ("拿铁",)}


async def test_nothing_found_is_nothing(knowledge: Knowledge, ids: list[int]) -> None:
    for found in (await knowledge.search("", scope=SCOPE), await knowledge.search_multi([], scope=SCOPE)):
        assert (found.hits, found.tier, found.total) == ([], None, 0)
