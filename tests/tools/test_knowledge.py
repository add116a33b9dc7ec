"""The knowledge tools: what they answer, over real rows."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graph.services import Services
from memory.scope import Scope
from models.embedded.amounts import amounts_in, principal_amount
from settings import Settings
from tests.library import LUNCH, PARCEL, TRAIN, Shot, add
from tools.knowledge import KNOWLEDGE_TOOLS, run_knowledge

NOW = datetime.fromisoformat("2026-11-30T18:00:00+08:00")
SCOPE = Scope("local")


def milk_tea(day: int, paid: str) -> Shot:
    text = f"订单已完成\n暮山奶茶\n桂花乌龙 x1\n实付 ¥{paid}\n下单时间 {day}日"
    return Shot(text=text, app="美团", category="shopping", taken_at=f"2026-11-{day:02d}T15:00:00+08:00")


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with Services.open(Settings(data_dir=tmp_path)) as opened:
        for shot in (PARCEL, TRAIN, LUNCH):
            await add(opened, shot)
        yield opened


async def call(name: str, services: Services, **args: Any) -> dict[str, Any]:
    answer = await run_knowledge(name, args, knowledge=services.knowledge, scope=SCOPE, now=NOW)
    value: dict[str, Any] = json.loads(answer)
    return value


def apps(result: dict[str, Any]) -> list[str]:
    return [hit["app"] for hit in result["hits"]]


def test_the_tools_have_the_names_and_required_parameters_of_the_contract():
    required = {tool.name: tool.get_input_schema().model_json_schema().get("required", []) for tool in KNOWLEDGE_TOOLS}
    assert required == {"search_knowledge": ["query"], "search_multi": ["queries"], "get_recent": []}


async def test_a_search_shows_text_time_and_place_of_each_hit(services: Services):
    result = await call("search_knowledge", services, query="取件码")
    (hit,) = result["hits"]
    assert hit["app"] == "菜鸟"
    assert "5-2-8043" in hit["text"]
    assert hit["taken_at"] == "2026-11-29T10:00:00+08:00"
    assert result["tier"] == "phrase"
    assert not result["weak"]


async def test_a_joint_search_names_the_keywords_of_each_hit(services: Services):
    result = await call("search_multi", services, queries=["二等座", "驿站", "发车"])
    assert {hit["app"]: set(hit["keywords"]) for hit in result["hits"]} == {"铁路12306": {"二等座", "发车"}, "菜鸟": {"驿站"}}


async def test_recent_ones_come_newest_first_and_the_limit_is_clamped(services: Services):
    assert apps(await call("get_recent", services, limit=2)) == ["美团", "菜鸟"]
    assert len(apps(await call("get_recent", services, limit=0))) == 1
    for day in range(1, 22):
        await add(services, milk_tea(day, "12.00"))
    assert len(apps(await call("get_recent", services, limit=500))) == 20


async def test_time_words_filter_by_capture_time_and_the_range_is_returned(services: Services):
    result = await call("get_recent", services, time="昨天")
    assert apps(result) == ["菜鸟"]
    assert result["time_range"] == {"start": "2026-11-29T00:00:00+08:00", "end": "2026-11-30T00:00:00+08:00", "phrase": "昨天"}


async def test_unknown_time_words_never_mean_everything(services: Services):
    result = await call("get_recent", services, time="等我有空的那阵子")
    assert result["error"] == "unknown_time"
    assert result["hits"] == []


async def test_a_filter_that_leaves_nothing_is_dropped_and_said_so(services: Services):
    result = await call("search_knowledge", services, query="二等座", time="昨天")
    assert apps(result) == ["铁路12306"]
    assert result["filter_dropped"]


async def test_app_and_category_narrow(services: Services):
    assert apps(await call("get_recent", services, app="铁路12306")) == ["铁路12306"]
    assert set(apps(await call("get_recent", services, category="shopping"))) == {"美团", "菜鸟"}


async def test_a_count_is_over_all_rows_not_the_top_hits(services: Services):
    for day in range(1, 29):
        await add(services, milk_tea(day, f"{day}.50"))
    result = await call("search_knowledge", services, query="奶茶", count=True)
    assert result["aggregate"]["count"] == 28
    assert result["aggregate"]["sums"] == {"CNY": f"{sum(range(1, 29)) + 14:.2f}"}


async def test_near_duplicates_count_once_in_sums_but_are_all_listed(services: Services):
    saved = replace(milk_tea(7, "18.00"), dhash="f" * 64)
    twins = [await add(services, saved), await add(services, replace(saved, taken_at="2026-11-08T15:00:00+08:00"))]
    result = await call("search_knowledge", services, query="奶茶", count=True)
    assert result["aggregate"]["count"] == 2
    assert result["aggregate"]["groups"] == 1
    assert result["aggregate"]["sums"] == {"CNY": "18.00"}
    assert {hit["id"] for hit in result["hits"]} == set(twins)


async def test_another_owner_sees_nothing(services: Services):
    answer = await run_knowledge("get_recent", {}, knowledge=services.knowledge, scope=Scope("someone"), now=NOW)
    assert json.loads(answer)["hits"] == []


@pytest.mark.parametrize(
    ("name", "args"), [("search_knowledge", {}), ("search_multi", {"queries": "火车"}), ("get_recent", {"limit": "many"})]
)
async def test_wrong_arguments_are_refused(name: str, args: dict[str, Any], services: Services):
    with pytest.raises(ValidationError):
        await call(name, services, **args)


@pytest.mark.parametrize("hostile", ['"', "* OR 1", "'); DROP TABLE photos;--", "NEAR(a b)", "%_", "🍊", "", " "])
async def test_no_query_is_an_error(hostile: str, services: Services):
    assert (await call("search_knowledge", services, query=hostile, count=True))["tool"] == "search_knowledge"
    assert (await call("search_multi", services, queries=[hostile]))["tool"] == "search_multi"


@pytest.mark.parametrize(
    ("text", "value", "currency", "paid"),
    [
        ("商品 ¥20.00\n优惠 -¥5.00\n实付款 ¥15.00", "15.00", "CNY", True),
        ("花店\n-88.00\n交易成功", "88.00", "CNY", True),
        ("Total USD 1,248.60", "1248.60", "USD", False),
        ("全票 NT$46\n半票 NT$23", "46", "TWD", False),
        ("房租 3200元/月", "3200", "CNY", False),
    ],
)
def test_the_amount_a_screenshot_is_about(text: str, value: str, currency: str, paid: bool):
    found = principal_amount(text)
    assert found is not None
    assert (str(found.amount.value), found.amount.currency, found.paid) == (value, currency, paid)


def test_numbers_that_are_no_money():
    assert amounts_in(["09:41", "2026-11-30", "06车12F号", "5.8 公里", "90%"]) == []
