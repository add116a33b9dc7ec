"""The screenshot library as tools: what the model may ask for, and how it is answered (JSON text)."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, field_validator

from memory.scope import Scope
from memory.search.dates import parse_time
from memory.search.types import Filters, Hit, SearchResult, TimeRange
from models.embedded.amounts import Principal, principal_amount

RECENT_DEFAULT = 10
RECENT_MAX = 20
SEARCH_LIMIT = 10
LONGEST_TEXT = 3000  # characters of one screenshot's text in a result
LONGEST_LISTED = 600  # the same in a listing of recent ones
CITED_BY_COUNT = 20  # members of an aggregate that are named one by one

_TIME = "时间词原话，如 昨天、上周三、10月、last Friday；按截图时间过滤"
_APP = "应用名，如 微信、支付宝"
_CATEGORY = "分类：chat, webpage, notification, social_media, finance, education, shopping, entertainment, tool, other"
_COUNT = "true：对全部符合的截图计数、求和，而不只是前几条"


class Narrowing(BaseModel):
    """Optional parameters that all knowledge tools share."""

    time: str | None = Field(default=None, description=_TIME)
    app: str | None = Field(default=None, description=_APP)
    category: str | None = Field(default=None, description=_CATEGORY)
    count: bool = Field(default=False, description=_COUNT)


class SearchKnowledge(Narrowing):
    query: str = Field(description="搜索关键词，用空格分隔多个词")


class SearchMulti(Narrowing):
    queries: list[str] = Field(description="搜索关键词列表")


class GetRecent(Narrowing):
    limit: int = Field(default=RECENT_DEFAULT, description="返回数量，默认10，最大20")

    @field_validator("limit")
    @classmethod
    def _clamp(cls, value: int) -> int:
        return min(max(value, 1), RECENT_MAX)


KNOWLEDGE_TOOLS: tuple[BaseTool, ...] = (
    StructuredTool(name="search_knowledge", description="搜索用户的手机截图知识库：用核心关键词", args_schema=SearchKnowledge),
    StructuredTool(
        name="search_multi",
        description="一次用多个相关关键词搜索截图知识库，合并去重；每个关键词最多 5 条，共 12 条",
        args_schema=SearchMulti,
    ),
    StructuredTool(name="get_recent", description="获取最近的截图，无需搜索词，新的在前", args_schema=GetRecent),
)
_ARGUMENTS: dict[str, type[Narrowing]] = {"search_knowledge": SearchKnowledge, "search_multi": SearchMulti, "get_recent": GetRecent}


class KnowledgeBase(Protocol):
    """What the tools need of `memory.search.service.Knowledge`."""

    async def search(self, query: str, *, scope: Scope, filters: Filters, limit: int) -> SearchResult: ...
    async def search_multi(self, queries: Sequence[str], *, scope: Scope, filters: Filters) -> SearchResult: ...
    async def recent(self, *, scope: Scope, limit: int, filters: Filters) -> SearchResult: ...
    async def all_matching(self, query: str, *, scope: Scope, filters: Filters) -> SearchResult: ...


async def run_knowledge(name: str, args: dict[str, Any], *, knowledge: KnowledgeBase, scope: Scope, now: datetime) -> str:
    """Answer one call of one of KNOWLEDGE_TOOLS. Raises pydantic's ValidationError for wrong arguments."""
    asked = _ARGUMENTS[name].model_validate(args)
    match asked:
        case SearchKnowledge():
            return await search_knowledge(asked, knowledge=knowledge, scope=scope, now=now)
        case SearchMulti():
            return await search_multi(asked, knowledge=knowledge, scope=scope, now=now)
        case GetRecent():
            return await get_recent(asked, knowledge=knowledge, scope=scope, now=now)
        case _:
            raise ValueError(f"no such tool: {name}")


async def search_knowledge(asked: SearchKnowledge, *, knowledge: KnowledgeBase, scope: Scope, now: datetime) -> str:
    """The best screenshots for one query; with `count`, figures over every row that matches."""
    filters = _filters(asked, now)
    if filters is None:
        return _unknown_time("search_knowledge", asked)
    found = await knowledge.search(asked.query, scope=scope, filters=filters, limit=SEARCH_LIMIT)
    rows = await knowledge.all_matching(asked.query, scope=scope, filters=filters) if asked.count else None
    return _answer("search_knowledge", {"query": asked.query}, found, rows=rows, longest=LONGEST_TEXT)


async def search_multi(asked: SearchMulti, *, knowledge: KnowledgeBase, scope: Scope, now: datetime) -> str:
    """One joint ranking of several keywords; with `count`, figures over every row that matches any of them."""
    filters = _filters(asked, now)
    if filters is None:
        return _unknown_time("search_multi", asked)
    found = await knowledge.search_multi(asked.queries, scope=scope, filters=filters)
    rows = await _any_matching(asked.queries, knowledge=knowledge, scope=scope, filters=filters) if asked.count else None
    return _answer("search_multi", {"queries": asked.queries}, found, rows=rows, longest=LONGEST_TEXT)


async def get_recent(asked: GetRecent, *, knowledge: KnowledgeBase, scope: Scope, now: datetime) -> str:
    """The newest screenshots; with `count`, figures over every row that meets the filters."""
    filters = _filters(asked, now)
    if filters is None:
        return _unknown_time("get_recent", asked)
    found = await knowledge.recent(scope=scope, limit=asked.limit, filters=filters)
    rows = await knowledge.all_matching("", scope=scope, filters=filters) if asked.count else None
    return _answer("get_recent", {"limit": asked.limit}, found, rows=rows, longest=LONGEST_LISTED)


async def _any_matching(queries: Sequence[str], *, knowledge: KnowledgeBase, scope: Scope, filters: Filters) -> SearchResult:
    hits: dict[int, Hit] = {}
    for query in dict.fromkeys(word.strip() for word in queries if word.strip()):
        matching = await knowledge.all_matching(query, scope=scope, filters=filters)
        hits |= {hit.photo_id: hit for hit in matching.hits}
    return SearchResult(hits=list(hits.values()), total=len(hits), filters=filters)


def _filters(asked: Narrowing, now: datetime) -> Filters | None:
    """None when time words are given that nobody can read: they never mean everything."""
    words = (asked.time or "").strip()
    time = parse_time(words, now=now) if words else None
    if words and time is None:
        return None
    return Filters(time=time, app=asked.app or None, category=asked.category or None)


def _unknown_time(tool: str, asked: Narrowing) -> str:
    return json.dumps({"tool": tool, "error": "unknown_time", "time": asked.time, "total": 0, "hits": []}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A near-duplicate group: its newest member and what that says was paid."""

    hit: Hit
    ids: list[int]
    principal: Principal | None


def aggregate(hits: Sequence[Hit]) -> dict[str, Any]:
    """Figures over rows. `count` counts every screenshot; in `sums` (by currency) a near-duplicate group counts once.

    `sums` are over settled amounts; only where none is settled, over all. `items` names the groups, newest first.
    """
    groups = _grouped(hits)
    settled = [group for group in groups if group.principal and group.principal.paid]
    summed = settled or [group for group in groups if group.principal]
    sums: Counter[str] = Counter()
    for group in summed:
        if group.principal:
            sums[group.principal.amount.currency] += group.principal.amount.value  # type: ignore[assignment]
    return {
        "count": len(hits),
        "groups": len(groups),
        "apps": dict(Counter(hit.app_name for hit in hits).most_common()),
        "sums": {currency: _plain(Decimal(value)) for currency, value in sums.items()},
        "items": [_item(group) for group in summed[:CITED_BY_COUNT]],
    }


def _grouped(hits: Sequence[Hit]) -> list[_Counted]:
    groups: dict[int, list[Hit]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.captured_at, hit.photo_id), reverse=True):
        groups.setdefault(hit.group_id if hit.group_id is not None else -hit.photo_id, []).append(hit)
    return [_Counted(members[0], [hit.photo_id for hit in members], principal_amount(members[0].ocr_text)) for members in groups.values()]


def _item(group: _Counted) -> dict[str, Any]:
    amount = group.principal.amount if group.principal else None
    return {
        "ids": group.ids,
        "app": group.hit.app_name,
        "taken_at": group.hit.captured_at.isoformat(),
        "summary": group.hit.summary,
        "amount": _plain(amount.value) if amount else None,
        "currency": amount.currency if amount else None,
    }


def _plain(value: Decimal) -> str:
    return f"{value:.2f}"


def _range(time: TimeRange | None) -> dict[str, str] | None:
    return {"start": time.start.isoformat(), "end": time.end.isoformat(), "phrase": time.phrase} if time else None


def _answer(tool: str, asked: dict[str, Any], found: SearchResult, *, rows: SearchResult | None, longest: int) -> str:
    return json.dumps(
        {
            "tool": tool,
            **asked,
            "time_range": _range(found.filters.time),
            "filter_dropped": found.filter_dropped,
            "tier": found.tier,
            "weak": found.weak,
            "total": found.total,
            "aggregate": aggregate(rows.hits) if rows else None,
            "notices": list(found.notices),
            "hits": [_as_json(hit, longest) for hit in _with_counted(found, rows)],
        },
        ensure_ascii=False,
    )


def _with_counted(found: SearchResult, rows: SearchResult | None) -> list[Hit]:
    """The hits, and the counted rows that an answer may cite."""
    if rows is None:
        return found.hits
    newest = sorted(rows.hits, key=lambda hit: (hit.captured_at, hit.photo_id), reverse=True)[:CITED_BY_COUNT]
    known = {hit.photo_id for hit in newest}
    return newest + [hit for hit in found.hits if hit.photo_id not in known][: max(0, CITED_BY_COUNT - len(newest))]


def _as_json(hit: Hit, longest: int) -> dict[str, Any]:
    value = {
        "id": hit.photo_id,
        "app": hit.app_name,
        "category": hit.content_category,
        "taken_at": hit.captured_at.isoformat(),
        "filename": hit.filename,
        "summary": hit.summary,
        "text": hit.ocr_text[:longest],
        "entities": hit.entities,
    }
    if hit.keywords:
        value["keywords"] = list(hit.keywords)
    if hit.group_id is not None:
        value["group"] = hit.group_id
    return value
