"""A library of screenshots made of texts alone, written in bulk."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select

from memory.database import Database
from memory.search.index import SqliteSearchIndex
from memory.search.rows import index_row
from memory.tables import Analysis, Asset, Photo, stamp

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_BATCH = 1000


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One analysed screenshot; what is not given is empty."""

    text: str
    owner: str = "local"
    device: str = "phone"
    app: str = ""
    category: str = "other"
    intent: str = "ignore"
    summary: str = ""
    entities: list[dict[str, str]] = field(default_factory=list)
    at: datetime = FIRST
    status: str = "done"


async def store_texts(db: Database, index: SqliteSearchIndex, texts: Sequence[str], *, owner: str = "local") -> list[int]:
    """One screenshot a text, a minute apart; returns their photo ids."""
    return await store(db, index, [Shot(text=text, owner=owner, at=FIRST + timedelta(minutes=i)) for i, text in enumerate(texts)])


async def store(db: Database, index: SqliteSearchIndex, shots: Sequence[Shot]) -> list[int]:
    """Write the rows and their index entries, creating the index if need be; returns the photo ids."""
    ids: list[int] = []
    async with db.begin() as session:
        await index.create(session)
        last = await session.scalar(select(func.coalesce(func.max(Photo.id), 0))) or 0
        for start in range(0, len(shots), _BATCH):
            batch = list(enumerate(shots[start : start + _BATCH], last + start + 1))
            await session.execute(insert(Asset), [_asset(number, shot) for number, shot in batch])
            await session.execute(insert(Photo), [_photo(number, shot) for number, shot in batch])
            await session.execute(insert(Analysis), [_analysis(number, shot) for number, shot in batch])
            done = [(number, shot) for number, shot in batch if shot.status == "done"]
            await index.put_many(session, [index_row(Photo(**_photo(n, s)), Analysis(**_analysis(n, s))) for n, s in done])
            ids += [number for number, _ in batch]
    return ids


def _sha256(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def _asset(number: int, shot: Shot) -> dict[str, Any]:
    digest = _sha256(number)
    stored = {"sha256": digest, "kind": "image", "origin": "upload", "mime_type": "image/png", "byte_size": 1, "blob_key": digest}
    return {"id": digest[:32], "owner": shot.owner, **stored, **stamp(shot.at)}


def _photo(number: int, shot: Shot) -> dict[str, Any]:
    named = {"id": number, "asset_id": _sha256(number)[:32], "sha256": _sha256(number), "filename": "shot.png"}
    taken = {"captured_at": shot.at, "captured_offset": 0, "time_source": "mtime"}
    return {**named, "owner": shot.owner, "device_id": shot.device, **taken, **stamp(shot.at)}


def _analysis(number: int, shot: Shot) -> dict[str, Any]:
    read = {"summary": shot.summary, "ocr_text": shot.text, "entities": json.dumps(shot.entities, ensure_ascii=False)}
    said = {"app_name": shot.app, "content_category": shot.category, "intent": shot.intent, "status": shot.status}
    return {"photo_id": number, "owner": shot.owner, **read, **said, **stamp(shot.at)}
