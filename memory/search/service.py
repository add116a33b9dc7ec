"""What is known from screenshots: every question to the library goes through here, with a scope."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import func
from sqlalchemy.ext.asyncio import AsyncSession

from memory.database import Database
from memory.scope import Scope
from memory.search.hits import load_hits, to_hit, visible
from memory.search.index import SqliteSearchIndex
from memory.search.query import holds_phrase
from memory.search.types import Filters, Hit, SearchResult, Tier
from memory.search.vectors import CANDIDATES, MISMATCH, VectorSearch, fuse
from memory.tables import Photo

PER_KEYWORD = 5
JOINT_TOTAL = 12
NO_FILTERS = Filters()
_TIER_WORTH: dict[Tier, float] = {"phrase": 1.0, "words": 0.6, "partial": 0.3}


class Knowledge:
    """Searches of one library. `vectors`, when given, joins in by meaning."""

    def __init__(self, db: Database, index: SqliteSearchIndex, *, vectors: VectorSearch | None = None) -> None:
        self._db = db
        self._index = index
        self._vectors = vectors

    async def search(self, query: str, *, scope: Scope, filters: Filters = NO_FILTERS, limit: int = 10) -> SearchResult:
        """The best `limit` hits. Filters that leave nothing, or only a weak hit, are dropped when that finds more."""
        found = await self._search(query, scope=scope, filters=filters, limit=limit)
        if filters == NO_FILTERS or (found.hits and not found.weak):
            return found
        wider = await self._search(query, scope=scope, filters=NO_FILTERS, limit=limit)
        better = wider.hits and (not found.hits or not wider.weak)
        return replace(wider, filters=filters, filter_dropped=True) if better else found

    async def search_multi(self, queries: Sequence[str], *, scope: Scope, filters: Filters = NO_FILTERS) -> SearchResult:
        """One joint ranking of several keywords: at most 5 hits each, 12 in all; a hit lists the keywords it matched."""
        keywords = list(dict.fromkeys(query.strip() for query in queries if query.strip()))
        results = await self._search_each(keywords, scope=scope, filters=filters)
        dropped = filters != NO_FILTERS and not any(result.hits and not result.weak for result in results.values())
        if dropped:
            wider = await self._search_each(keywords, scope=scope, filters=NO_FILTERS)
            found = any(result.hits for result in results.values())
            dropped = any(result.hits and not (found and result.weak) for result in wider.values())
            results = wider if dropped else results
        hits = _joint(results)
        return SearchResult(
            hits=hits,
            tier=next((tier for tier in _TIER_WORTH if any(result.tier == tier for result in results.values())), None),
            weak=bool(hits) and all(result.weak for result in results.values() if result.hits),
            total=len(hits),
            filters=filters,
            filter_dropped=dropped,
            notices=tuple(dict.fromkeys(notice for result in results.values() for notice in result.notices)),
        )

    async def recent(self, *, scope: Scope, limit: int | None = 10, filters: Filters = NO_FILTERS) -> SearchResult:
        """The newest analysed photos by capture time; `total` counts all that meet the filters. `limit` None: all."""
        seen = visible(scope, filters)
        async with self._db.session() as session:
            total = await session.scalar(seen.with_only_columns(func.count(), maintain_column_froms=True))
            rows = await session.execute(seen.order_by(Photo.captured_at.desc(), Photo.id.desc()).limit(limit))
            return SearchResult(hits=[to_hit(row) for row in rows], total=total or 0, filters=filters)

    async def all_matching(self, query: str, *, scope: Scope, filters: Filters = NO_FILTERS) -> SearchResult:
        """Every row that matches, for counts and sums; an empty query means every row that meets the filters."""
        if not query.strip():
            return await self.recent(scope=scope, limit=None, filters=filters)
        async with self._db.session() as session:
            return await self._index.matching_all(session, query=query, scope=scope, filters=filters)

    async def _search_each(self, keywords: Sequence[str], *, scope: Scope, filters: Filters) -> dict[str, SearchResult]:
        """In one session; a keyword of which the index knows no word is only looked for when it knows none of any."""
        async with self._db.session() as session:
            known = await self._index.with_known_words(session, keywords) or keywords
            found = {word: await self._by_text(session, word, scope=scope, filters=filters, limit=JOINT_TOTAL) for word in known}
        return {
            word: await self._with_meaning(result, word, scope=scope, filters=filters, limit=JOINT_TOTAL) for word, result in found.items()
        }

    async def _search(self, query: str, *, scope: Scope, filters: Filters, limit: int) -> SearchResult:
        async with self._db.session() as session:
            found = await self._by_text(session, query, scope=scope, filters=filters, limit=limit)
        return await self._with_meaning(found, query, scope=scope, filters=filters, limit=limit)

    async def _by_text(self, session: AsyncSession, query: str, *, scope: Scope, filters: Filters, limit: int) -> SearchResult:
        depth = max(limit, CANDIDATES) if self._vectors else limit
        return await self._index.search(session, query=query, scope=scope, filters=filters, limit=depth)

    async def _with_meaning(self, found: SearchResult, query: str, *, scope: Scope, filters: Filters, limit: int) -> SearchResult:
        """`found`, cut to `limit`; where it is no phrase, with what vectors find."""
        vectors = self._vectors
        if vectors is None or found.tier == "phrase" or not query.strip():
            return replace(found, hits=found.hits[:limit])
        vector = await vectors.embed_query(query)
        async with self._db.session() as session:
            near = await vectors.nearest(session, vector, scope=scope, filters=filters)
            if not near:
                notices = (MISMATCH,) if near is None else ()
                return replace(found, hits=found.hits[:limit], notices=notices)
            scores = dict(fuse({hit.photo_id: hit.score for hit in found.hits}, near)[:limit])
            hits = await load_hits(session, list(scores), scope=scope, filters=filters)
        by_text = {hit.photo_id: hit for hit in found.hits}
        fused = [replace(by_text.get(hit.photo_id, hit), score=scores[hit.photo_id]) for hit in hits]
        return replace(found, hits=fused, tier=found.tier or "partial", weak=found.weak or not by_text, total=max(found.total, len(fused)))


def _joint(results: Mapping[str, SearchResult]) -> list[Hit]:
    """Best first: each keyword adds its tier's worth times the hit's share of its best score, and has room for five hits."""
    scores: dict[int, float] = {}
    hits: dict[int, Hit] = {}
    for result in results.values():
        for hit in result.hits:
            share = hit.score / result.hits[0].score if result.hits[0].score > 0 else 1.0
            scores[hit.photo_id] = scores.get(hit.photo_id, 0.0) + _TIER_WORTH[hit.tier or "partial"] * share * (hit.coverage or 0.5)
            known = hits.get(hit.photo_id)
            hits[hit.photo_id] = hit if known is None or hit.coverage > known.coverage else known
    ranked = sorted(hits.values(), key=lambda hit: (scores[hit.photo_id], hit.captured_at, hit.photo_id), reverse=True)
    room = dict.fromkeys(results, PER_KEYWORD)
    joint: list[Hit] = []
    for hit in ranked:
        keywords = _matched(hit, results)
        if len(joint) < JOINT_TOTAL and all(room[keyword] for keyword in keywords):
            room |= {keyword: room[keyword] - 1 for keyword in keywords}
            joint.append(replace(hit, score=scores[hit.photo_id], keywords=keywords))
    return joint


def _matched(hit: Hit, results: Mapping[str, SearchResult]) -> tuple[str, ...]:
    """The keywords that brought the hit, and those its text holds although others ranked higher for them."""
    text = "\n".join((hit.summary, hit.app_name, hit.ocr_text, *(entity["value"] for entity in hit.entities)))
    return tuple(
        keyword
        for keyword, result in results.items()
        if any(found.photo_id == hit.photo_id for found in result.hits) or holds_phrase(text, keyword)
    )
