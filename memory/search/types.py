"""What goes into a search and what comes out: plain values shared by the index, the tools and the command line."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from memory.scope import Scope

Tier = Literal["phrase", "words", "partial"]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """[start, end) as aware datetimes in the user's zone, and the words it was read from."""

    start: datetime
    end: datetime
    phrase: str


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions every hit must meet. `app` is a canonical name, `category` one of the ten."""

    time: TimeRange | None = None
    app: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One analysed photo. `score`: higher is better; `coverage`: share (0-1) of the question's meaning it holds, by idf;
    `keywords`: which of the queries matched (search_multi)."""

    photo_id: int
    filename: str
    app_name: str
    content_category: str
    intent: str
    summary: str
    entities: list[dict[str, str]]
    ocr_text: str
    captured_at: datetime  # aware, at the photo's own offset
    group_id: int | None
    score: float = 0.0
    coverage: float = 0.0
    tier: Tier | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. `weak`: the best hit covers little of the question; `total`: all rows that match."""

    hits: list[Hit] = field(default_factory=list)
    tier: Tier | None = None
    weak: bool = False
    total: int = 0
    filters: Filters = Filters()
    filter_dropped: bool = False
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexRow:
    """The searchable text of one analysed photo. `entities` are values, never their JSON."""

    photo_id: int
    owner: str
    summary: str
    app_name: str
    labels: str  # category and intent in Chinese and English
    entities: str
    ocr_text: str
    filename: str


class SearchIndex(Protocol):
    """Written in the transaction of its row. SQLite has FTS5; PostgreSQL implements the same."""

    async def create(self, session: AsyncSession) -> None: ...
    async def put(self, session: AsyncSession, row: IndexRow) -> None: ...
    async def remove(self, session: AsyncSession, photo_id: int) -> None: ...
    async def rebuild(self, session: AsyncSession) -> int: ...
    async def optimise(self, session: AsyncSession) -> None: ...
    async def search(self, session: AsyncSession, *, query: str, scope: Scope, filters: Filters, limit: int) -> SearchResult: ...
