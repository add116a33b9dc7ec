"""Rows of photos and analyses as hits, and the conditions every read of them meets."""

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta, timezone
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from memory.scope import Scope
from memory.search.types import Filters, Hit
from memory.tables import Analysis, Photo

COLUMNS = (
    Photo.id,
    Photo.filename,
    Photo.captured_at,
    Photo.captured_offset,
    Photo.group_id,
    Analysis.app_name,
    Analysis.content_category,
    Analysis.intent,
    Analysis.summary,
    Analysis.entities,
    Analysis.ocr_text,
)


_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "owner": Photo.owner == bindparam("owner"),
    "devices": Photo.device_id.in_(bindparam("devices", expanding=True)),
    "start": Photo.captured_at >= bindparam("start"),
    "end": Photo.captured_at < bindparam("end"),
    "app": Analysis.app_name == bindparam("app"),
    "category": Analysis.content_category == bindparam("category"),
}


def narrowing(scope: Scope, filters: Filters) -> dict[str, Any]:
    """The parameters of `conditions` that a scope and filters set, by name."""
    time = (filters.time.start, filters.time.end) if filters.time else (None, None)
    values = (scope.owner, scope.devices, *time, filters.app or None, filters.category or None)
    return {name: value for name, value in zip(_CONDITIONS, values, strict=True) if value is not None}


def conditions(names: Iterable[str]) -> list[ColumnElement[bool]]:
    """What a row of photos joined with analyses must meet: analysed, and the conditions of these names (see `narrowing`)."""
    return [Analysis.status == "done", *(_CONDITIONS[name] for name in names)]


def visible(scope: Scope, filters: Filters) -> Select[*tuple[Any, ...]]:
    """Everything known of the rows that may be seen, in no order."""
    given = narrowing(scope, filters)
    return select(*COLUMNS).join(Analysis, Analysis.photo_id == Photo.id).where(*conditions(given)).params(given)


async def load_hits(session: AsyncSession, photo_ids: Sequence[int], *, scope: Scope, filters: Filters) -> list[Hit]:
    """Hits of these photos in the given order; ids outside the scope or the filters are left out."""
    rows = await session.execute(visible(scope, filters).where(Photo.id.in_(photo_ids)))
    found = {row.id: to_hit(row) for row in rows}
    return [found[photo_id] for photo_id in photo_ids if photo_id in found]


def to_hit(row: Row[Any]) -> Hit:
    zone = timezone(timedelta(minutes=row.captured_offset))
    return Hit(
        photo_id=row.id,
        filename=row.filename,
        app_name=row.app_name,
        content_category=row.content_category,
        intent=row.intent,
        summary=row.summary,
        entities=json.loads(row.entities),
        ocr_text=row.ocr_text,
        captured_at=row.captured_at.astimezone(zone),
        group_id=row.group_id,
    )
