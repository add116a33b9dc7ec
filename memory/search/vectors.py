"""Search by meaning, beside the text index: float32 rows in a table, compared with numpy."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from memory.database import Database
from memory.scope import Scope
from memory.search.hits import conditions, narrowing
from memory.search.types import Filters
from memory.tables import Analysis, Photo, PhotoVector, stamp

CANDIDATES = 50
MISMATCH = "embeddings_mismatch"  # notice: vectors of another model or size are stored, so only text was searched
_BATCH = 32

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSearch:
    """Embeds with `embeddings`, remembered as `model`. Vectors of another model are never compared with its own."""

    embeddings: Embeddings
    model: str

    async def embed_query(self, query: str) -> Vector:
        return _unit(np.asarray(await self.embeddings.aembed_query(query), dtype=np.float32))

    async def embed_missing(self, db: Database, *, owner: str, now: datetime) -> int:
        """Embed analysed photos whose vector is absent, older than the analysis or of another model; returns how many.

        Nothing is embedded inside a transaction. `now`, at most the time of the call, is when the vectors count as made.
        """
        written, last = 0, 0
        while batch := await self._missing(db, owner, after=last):
            last = batch[-1][0]
            vectors = await self.embeddings.aembed_documents([text for _, text in batch])
            async with db.begin() as session:
                kept = set(await session.scalars(select(Photo.id).where(Photo.id.in_([photo_id for photo_id, _ in batch]))))
                for (photo_id, _), vector in zip(batch, vectors, strict=True):
                    if photo_id in kept:
                        data = _unit(np.asarray(vector, dtype=np.float32)).astype("<f4").tobytes()
                        row = PhotoVector(photo_id=photo_id, owner=owner, model=self.model, dim=len(vector), vector=data, **stamp(now))
                        await session.merge(row)
            written += len(kept)
        return written

    async def nearest(self, session: AsyncSession, query: Vector, *, scope: Scope, filters: Filters) -> dict[int, float] | None:
        """Cosine of the closest rows by photo id; None when vectors of another model or size are stored."""
        owned = select(PhotoVector.model, PhotoVector.dim).where(PhotoVector.owner == scope.owner).distinct()
        kinds = {(model, dim) for model, dim in await session.execute(owned)}
        if kinds - {(self.model, len(query))}:
            return None
        given = narrowing(scope, filters)
        seen = (
            select(PhotoVector.photo_id, PhotoVector.vector)
            .join(Photo, Photo.id == PhotoVector.photo_id)
            .join(Analysis, Analysis.photo_id == Photo.id)
            .where(*conditions(given))
        )
        rows = (await session.execute(seen, given)).all()
        return await asyncio.to_thread(_closest, rows, query)

    async def _missing(self, db: Database, owner: str, *, after: int) -> list[tuple[int, str]]:
        stale = or_(PhotoVector.photo_id.is_(None), PhotoVector.model != self.model, PhotoVector.created_at < Analysis.completed_at)
        query = (
            select(Photo.id, Analysis.app_name, Analysis.summary, Analysis.ocr_text)
            .join(Analysis, Analysis.photo_id == Photo.id)
            .outerjoin(PhotoVector, PhotoVector.photo_id == Photo.id)
            .where(Photo.owner == owner, Photo.id > after, Analysis.status == "done", stale)
            .order_by(Photo.id)
            .limit(_BATCH)
        )
        async with db.session() as session:
            return [(photo_id, "\n".join(texts)) for photo_id, *texts in await session.execute(query)]


def fuse(text: Mapping[int, float], meaning: Mapping[int, float]) -> list[tuple[int, float]]:
    """Min-max fusion, half and half, over the union of both; a row that one list lacks gets nothing from it. Best first."""
    by_text, by_meaning = _spread(text), _spread(meaning)
    fused = {
        photo_id: by_text.get(photo_id, 0.0) / 2 + by_meaning.get(photo_id, 0.0) / 2 for photo_id in by_text.keys() | by_meaning.keys()
    }
    return sorted(fused.items(), key=lambda row: (-row[1], -row[0]))


def _spread(scores: Mapping[int, float]) -> dict[int, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {photo_id: (score - low) / (high - low) if high > low else 1.0 for photo_id, score in scores.items()}


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _closest(rows: Sequence[tuple[int, bytes]], query: Vector) -> dict[int, float]:
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = matrix @ query
    best = np.argsort(-cosines, kind="stable")[:CANDIDATES]
    return {rows[i][0]: float(cosines[i]) for i in best}
