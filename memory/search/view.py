"""The rows of the text index that a scope and filters leave. Statements are built once for each set of conditions."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import Float, Integer, Label, Select, TextClause, and_, bindparam, case, column, exists, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from memory.scope import Scope
from memory.search.hits import COLUMNS, conditions, narrowing, to_hit
from memory.search.rank import WEIGHTS
from memory.search.types import Filters, Hit
from memory.tables import Analysis, Photo

COUNTED = 1000
Names = tuple[str, ...]

_SCORED = (
    f"SELECT rowid AS photo_id, bm25(search_fts, {', '.join(map(str, WEIGHTS))}) AS rank FROM search_fts WHERE search_fts MATCH :match"
)
_BEST = text(f"{_SCORED} ORDER BY rank, rowid DESC LIMIT :considered")
# The limit keeps SQLite from merging this into a join, where it might search once per photo.
_EVERY = text(f"{_SCORED} LIMIT -1")
_MATCHES = text(f"SELECT rowid AS photo_id FROM search_fts WHERE search_fts MATCH :match LIMIT {COUNTED}")


@dataclass(frozen=True, slots=True)
class View:
    """What one search may see, read in one session."""

    session: AsyncSession
    scope: Scope
    filters: Filters

    async def best(self, match: str, limit: int) -> tuple[list[Hit], int]:
        """The best rows that match, in order of their score, and how many match (counted to 1,000).

        Most libraries are looked at whole, so a few more rows than wanted are ranked before the scope is looked at;
        only when too many of them lie outside is every match joined with its photo.
        """
        considered = 2 * limit
        given = narrowing(self.scope, self.filters)
        found = (await self.session.execute(_best(tuple(given)), given | {"match": match, "considered": considered})).all()
        seen = [row for row in found if row.summary is not None]
        if len(found) < considered:
            total = len(seen)
        elif len(seen) < limit:
            hits = await self.all(match)
            return hits[:limit], len(hits)
        else:
            # Where rows may be indexed that lie outside, matches have to be looked up one by one to be counted.
            whole = set(given) == {"owner"} and not found[0].strangers
            total = found[0].matches if whole else await self._count(match)
        return [replace(to_hit(row), score=-row.rank) for row in seen[:limit]], total

    async def all(self, match: str) -> list[Hit]:
        given = narrowing(self.scope, self.filters)
        rows = await self.session.execute(_every(tuple(given)), given | {"match": match})
        return [replace(to_hit(row), score=-row.rank) for row in rows]

    async def _count(self, match: str) -> int:
        given = narrowing(self.scope, self.filters)
        return await self.session.scalar(_counted(tuple(given)), given | {"match": match}) or 0


@cache
def _best(names: Names) -> Select[*tuple[Any, ...]]:
    ranked = _rows(_BEST)
    strangers = or_(exists().where(Photo.owner < bindparam("owner")), exists().where(Photo.owner > bindparam("owner")))
    return (
        select(ranked.c.rank, *COLUMNS, _matches(), strangers.label("strangers"))
        .outerjoin(Photo, Photo.id == ranked.c.photo_id)
        .outerjoin(Analysis, and_(Analysis.photo_id == Photo.id, *conditions(names)))
        .order_by(ranked.c.rank, ranked.c.photo_id.desc())
    )


@cache
def _every(names: Names) -> Select[*tuple[Any, ...]]:
    ranked = _rows(_EVERY)
    return (
        select(ranked.c.rank, *COLUMNS)
        .join(Photo, Photo.id == ranked.c.photo_id)
        .join(Analysis, Analysis.photo_id == Photo.id)
        .where(*conditions(names))
        .order_by(ranked.c.rank, Photo.id.desc())
    )


@cache
def _counted(names: Names) -> Select[int]:
    some = _every(names).with_only_columns(Photo.id).order_by(None).limit(COUNTED).subquery()
    return select(func.count()).select_from(some)


def _matches() -> Label[int | None]:
    """How many rows match, where more do than were considered: SQLite runs a subquery only when its case is met."""
    counted = select(func.count()).select_from(_rows(_MATCHES)).scalar_subquery()
    return case((func.count().over() == bindparam("considered"), counted)).label("matches")


def _rows(statement: TextClause) -> Any:
    return statement.columns(column("photo_id", Integer), column("rank", Float)).subquery()
