"""What the command line asks of the library, each in a process of its own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from graph.services import Services
from memory.maintenance import maintain
from memory.photos import delete_photo
from memory.scope import Scope
from memory.search.dates import parse_time
from memory.search.types import Filters, SearchResult
from server.clock import now_in
from server.importer import ImportReport, Progress, open_importer
from settings import Settings

FAILURES_SHOWN = 50


class UnknownTime(ValueError):
    """Time words that nobody can read; they never mean everything."""


async def import_paths(
    settings: Settings, paths: Sequence[Path], *, device: str | None = None, on_progress: Progress | None = None
) -> ImportReport:
    """Import once; with vectors configured, what is new gets its vector too."""
    async with Services.open(settings) as services:
        async with open_importer(services, device_id=device) as importer:
            report = await importer.run(paths, on_progress=on_progress)
        await _embed(services)
        return report


async def watch_paths(
    settings: Settings, paths: Sequence[Path], *, device: str | None = None, on_progress: Progress | None = None
) -> AsyncIterator[ImportReport]:
    """Import, and go on importing what is new, until cancelled."""
    async with (
        Services.open(settings) as services,
        open_importer(services, device_id=device) as importer,
        aclosing(importer.watch(paths, on_progress=on_progress)) as reports,
    ):
        async for report in reports:
            await _embed(services)
            yield report


async def _embed(services: Services) -> None:
    if services.vectors is not None:
        settings = services.settings
        await services.vectors.embed_missing(services.database, owner=settings.owner, now=now_in(settings))


async def status_of(settings: Settings) -> dict[str, Any]:
    """Counts by state, category and intent, and the failures with their reasons."""
    scope = Scope(settings.owner)
    async with Services.open(settings) as services:
        counts = await services.photos.counts(scope=scope)
        failed = await services.photos.list(scope=scope, status="error", page_size=FAILURES_SHOWN)
    return {
        "total": counts.total,
        "status": counts.status,
        "category": counts.category,
        "intent": counts.intent,
        "failures": [{"id": p.photo.id, "filename": p.photo.filename, "error": p.analysis.error_message} for p in failed.items],
    }


async def search_library(
    settings: Settings, query: str, *, limit: int, time: str | None, app: str | None, category: str | None
) -> SearchResult:
    """Raises UnknownTime for time words that cannot be read."""
    during = parse_time(time, now=now_in(settings)) if time else None
    if time and during is None:
        raise UnknownTime(f"{time!r} names no time I know")
    filters = Filters(time=during, app=app, category=category)
    async with Services.open(settings) as services:
        return await services.knowledge.search(query, scope=Scope(settings.owner), filters=filters, limit=limit)


async def reindex_all(settings: Settings) -> int:
    """Build the index anew; returns how many screenshots it holds."""
    async with Services.open(settings) as services:
        async with services.database.begin() as session:
            count = await services.index.rebuild(session)
        await _embed(services)
    return count


async def delete_photos(settings: Settings, photo_ids: Sequence[int]) -> list[int]:
    """Delete for good, and clear the file's free pages of their text. Returns the ids that were not there."""
    scope = Scope(settings.owner)
    async with Services.open(settings) as services:
        missing = [
            photo_id
            for photo_id in dict.fromkeys(photo_ids)
            if not await delete_photo(photo_id, scope=scope, photos=services.photos, blobs=services.blobs)
        ]
        await maintain(services.database, services.index)
    return missing
