"""The text index of SQLite: an ordinary FTS5 table with its own content, written in the transaction of its row."""

import asyncio
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from memory.scope import Scope
from memory.search.query import Question, Term, parse_question, partial_runs, phrase_match
from memory.search.rank import COLUMNS, Weighed, rerank
from memory.search.rows import index_row
from memory.search.text import index_tokens
from memory.search.types import Filters, Hit, IndexRow, SearchResult
from memory.search.view import COUNTED, View
from memory.tables import Analysis, Meta, Photo

# A new cut, column or normalisation needs a new number; the folds of OpenCC and Unicode are part of the index too.
INDEX_VERSION = f"1/{version('opencc')}/{unicodedata.unidata_version}"
WEAK_COVERAGE = 0.5  # on CMRC and DRCD 95 % of the right passages reach it, and a quarter of the best wrong ones
_VERSION_KEY = "index_version"
_RERANKED = 60
_PARTIAL_TERMS = 32
_LIKE_SPECIAL = re.compile(r"[\\%_]")
_BATCH = 500

# Tokens are cut here, so the tokenizer may only split at blanks: `ascii` takes every character beyond ASCII as part of a token.
_CREATE = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS search_fts USING fts5({', '.join(COLUMNS)}, tokenize='ascii')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_terms USING fts5vocab(search_fts, 'row')",
)
_DROP = ("DROP TABLE IF EXISTS search_terms", "DROP TABLE IF EXISTS search_fts")
_PUT = text(f"INSERT OR REPLACE INTO search_fts(rowid, {', '.join(COLUMNS)}) VALUES (:photo_id, :{', :'.join(COLUMNS)})")
_REMOVE = text("DELETE FROM search_fts WHERE rowid = :photo_id")
_TEXTS = f"SELECT rowid, {', '.join(COLUMNS)} FROM search_fts WHERE rowid IN (SELECT value FROM json_each(:ids))"
_ROWS = text("SELECT coalesce((SELECT rowid FROM search_fts ORDER BY rowid DESC LIMIT 1), 0)")
_FREQUENCIES = text(
    "SELECT term.key, coalesce(sum(known.doc), 0) FROM json_each(:ranges) AS term CROSS JOIN search_terms AS known"
    " WHERE known.term >= term.value ->> 0 AND known.term <= term.value ->> 1 GROUP BY term.key"
)
_CONTAINING = text("SELECT term FROM search_terms WHERE term LIKE :pattern ESCAPE '\\' ORDER BY doc DESC LIMIT :limit")
_AFTER_ANY = "\U0010ffff"


class SqliteSearchIndex:
    """FTS5 behind `memory.search.types.SearchIndex`. Holds nothing: every call works in the session it is given."""

    async def create(self, session: AsyncSession) -> None:
        """Make the tables if absent. An index made here, in an empty database, is current."""
        existed = await session.scalar(text("SELECT count(*) FROM sqlite_master WHERE name = 'search_fts'"))
        if not existed:
            await _execute_all(session, _CREATE)
            if not await session.scalar(select(func.count()).where(Analysis.status == "done")):
                await _store_version(session)

    async def is_current(self, session: AsyncSession) -> bool:
        """Whether the index was cut as this version cuts its queries; if not, `rebuild` is due."""
        return bool(await session.scalar(select(Meta.value).where(Meta.key == _VERSION_KEY)) == INDEX_VERSION)

    async def put(self, session: AsyncSession, row: IndexRow) -> None:
        """Index a row anew. Belongs into the transaction that writes the analysis."""
        await session.execute(_PUT, _to_columns(row))

    async def put_many(self, session: AsyncSession, rows: Sequence[IndexRow]) -> None:
        """`put` for many rows, cut off the event loop."""
        if rows:
            await session.execute(_PUT, await asyncio.to_thread(lambda: [_to_columns(row) for row in rows]))

    async def remove(self, session: AsyncSession, photo_id: int) -> None:
        await session.execute(_REMOVE, {"photo_id": photo_id})

    async def rebuild(self, session: AsyncSession) -> int:
        """Make the index anew from all analysed photos, in the session's transaction; returns how many."""
        await _execute_all(session, _DROP + _CREATE)
        written, last = 0, 0
        while batch := await _analysed_after(session, last):
            await self.put_many(session, batch)
            written, last = written + len(batch), batch[-1].photo_id
        await _store_version(session)
        return written

    async def optimise(self, session: AsyncSession) -> None:
        """Merge all segments, so that no segment holds terms of deleted rows any more."""
        await session.execute(text("INSERT INTO search_fts(search_fts) VALUES ('optimize')"))

    async def search(self, session: AsyncSession, *, query: str, scope: Scope, filters: Filters, limit: int) -> SearchResult:
        """The first tier that finds anything: the whole phrase, then its words, then parts of words.

        `total` counts rows up to 1,000; in the words tier, where almost any row shares a word, only those that were ranked.
        """
        view = View(session, scope, filters)
        phrase = phrase_match(query)
        if phrase is None:
            return SearchResult(filters=filters)
        hits, total = await view.best(phrase, limit)
        if hits:
            return _result([replace(hit, tier="phrase", coverage=1.0) for hit in hits], filters, total)
        if hits := await self._by_words(view, query, limit):
            return _result([replace(hit, tier="words") for hit in hits[:limit]], filters, len(hits))
        parts = await _terms_containing(session, query)
        hits, total = await view.best(" OR ".join(parts), limit) if parts else ([], 0)
        return _result([replace(hit, tier="partial") for hit in hits], filters, total)

    async def with_known_words(self, session: AsyncSession, queries: Sequence[str]) -> list[str]:
        """Those of `queries` that hold at least one word of the index: the others can only be found as parts of words."""
        terms = [(query, term) for query in queries for term in parse_question(query).terms]
        counts = await _count_rows(session, [term for _, term in terms])
        known = {query for number, (query, _) in enumerate(terms) if counts.get(number)}
        return [query for query in queries if query in known]

    async def _by_words(self, view: View, query: str, limit: int) -> list[Hit]:
        weighed = await _weigh(view.session, parse_question(query))
        if not weighed.found:
            return []
        found, _ = await view.best(" OR ".join(term.match for term in weighed.sought), max(limit, _RERANKED))
        hits = {hit.photo_id: hit for hit in found}
        scored = rerank(weighed, await _token_texts(view.session, list(hits)))
        return [replace(hits[row.photo_id], score=row.score, coverage=row.coverage) for row in scored]

    async def matching_all(self, session: AsyncSession, *, query: str, scope: Scope, filters: Filters) -> SearchResult:
        """For counting: every row of the phrase tier; if there is none, those with all the words; then those that cover the question."""
        view = View(session, scope, filters)
        phrase = phrase_match(query)
        if phrase is None:
            return SearchResult(filters=filters)
        if hits := await view.all(phrase):
            return _result([replace(hit, tier="phrase", coverage=1.0) for hit in hits], filters, len(hits))
        weighed = await _weigh(session, parse_question(query))
        if weighed.coverage(weighed.found) < WEAK_COVERAGE:
            return SearchResult(filters=filters)
        if hits := await view.all(" AND ".join(term.match for term in weighed.found if term.weight == 1.0)):
            return _result([replace(hit, tier="words", coverage=1.0) for hit in hits], filters, len(hits))
        hits = [hit for hit in await self._by_words(view, query, COUNTED) if hit.coverage >= WEAK_COVERAGE]
        return _result([replace(hit, tier="words") for hit in hits], filters, len(hits))


def _result(hits: list[Hit], filters: Filters, total: int) -> SearchResult:
    if not hits:
        return SearchResult(filters=filters)
    return SearchResult(hits=hits, tier=hits[0].tier, weak=hits[0].coverage < WEAK_COVERAGE, total=total, filters=filters)


async def _weigh(session: AsyncSession, question: Question) -> Weighed:
    """Look up in how many rows each term is, now: a kept count could drift."""
    counts = await _count_rows(session, question.terms)
    frequencies = {term: counts.get(number, 0) for number, term in enumerate(question.terms)}
    return Weighed.of(question, frequencies, await session.scalar(_ROWS))


async def _count_rows(session: AsyncSession, terms: Sequence[Term]) -> dict[int, int]:
    """In how many rows each term is, by its place in `terms`."""
    ranges = json.dumps([[term.text, term.text + _AFTER_ANY if term.prefix else term.text] for term in terms])
    return dict((await session.execute(_FREQUENCIES, {"ranges": ranges})).all())


async def _token_texts(session: AsyncSession, photo_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    rows = await session.execute(text(_TEXTS), {"ids": json.dumps(photo_ids)})
    return {row[0]: tuple(row[1:]) for row in rows}


async def _terms_containing(session: AsyncSession, query: str) -> list[str]:
    """Quoted index terms that hold a Latin run of the query inside them."""
    terms: list[str] = []
    for run in partial_runs(query):
        pattern = f"%{_LIKE_SPECIAL.sub(lambda special: chr(92) + special[0], run)}%"
        terms += await session.scalars(_CONTAINING, {"pattern": pattern, "limit": _PARTIAL_TERMS})
    return [f'"{term}"' for term in terms]


async def _analysed_after(session: AsyncSession, photo_id: int) -> list[IndexRow]:
    rows = await session.execute(
        select(Photo, Analysis)
        .join(Analysis, Analysis.photo_id == Photo.id)
        .where(Analysis.status == "done", Photo.id > photo_id)
        .order_by(Photo.id)
        .limit(_BATCH)
    )
    batch = [index_row(photo, analysis) for photo, analysis in rows]
    session.expunge_all()  # a rebuild passes through every row: none may stay in memory
    return batch


async def _store_version(session: AsyncSession) -> None:
    await session.execute(delete(Meta).where(Meta.key == _VERSION_KEY))
    await session.execute(insert(Meta).values(key=_VERSION_KEY, value=INDEX_VERSION))


async def _execute_all(session: AsyncSession, statements: Sequence[str]) -> None:
    for statement in statements:
        await session.execute(text(statement))


def _to_columns(row: IndexRow) -> dict[str, int | str]:
    return {"photo_id": row.photo_id} | {name: " ".join(index_tokens(getattr(row, name))) for name in COLUMNS}
