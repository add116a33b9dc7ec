"""Checks of one installation: what works, what is missing, and what to do about it."""

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from graph.services import Services
from memory.scope import Scope
from settings import ModelSettings, Settings


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def examine(settings: Settings) -> list[Check]:
    """All checks, in the order of their dependence; a failing one does not stop the others."""
    async with Services.open(settings) as services:
        probes: dict[str, Callable[[], Awaitable[str]]] = {
            "database": lambda: _database(services),
            "data folder": lambda: _folder(settings),
            "search index": lambda: _index(services),
            "OCR": lambda: _ocr(services),
        }
        checks = [await _probe(name, probe) for name, probe in probes.items()]
    return [*checks, _model("chat model", settings.chat), _model("vision model", settings.vision), _web(settings)]


async def _probe(name: str, probe: Callable[[], Awaitable[str]]) -> Check:
    try:
        return Check(name, True, await probe())
    except Exception as error:  # a check reports whatever is wrong
        return Check(name, False, f"{type(error).__name__}: {error}")


async def _database(services: Services) -> str:
    counts = await services.photos.counts(scope=Scope(services.settings.owner))
    return f"{services.database.dialect}, {counts.total} screenshots, {counts.status.get('error', 0)} failed"


async def _folder(settings: Settings) -> str:
    mode = stat.S_IMODE((await asyncio.to_thread(os.stat, settings.data_dir)).st_mode)
    if mode & 0o077:
        raise PermissionError(f"{settings.data_dir} is open to others ({mode:o}); chmod 700 it")
    return f"{settings.data_dir}, closed to others"


async def _index(services: Services) -> str:
    async with services.database.session() as session:
        current = await services.index.is_current(session)
    return "current" if current else "made by another version; it is being rebuilt (evatar reindex does it at once)"


async def _ocr(services: Services) -> str:
    await services.ocr(await asyncio.to_thread(_blank_picture))
    return f"ready, {services.settings.ocr_workers} workers"


def _blank_picture() -> bytes:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(out, "PNG")
    return out.getvalue()


def _model(name: str, settings: ModelSettings) -> Check:
    if settings.configured:
        return Check(name, True, f"{settings.model} at {settings.base_url or 'OpenAI'}, then the embedded engine")
    return Check(name, True, "embedded engine (no model configured)")


def _web(settings: Settings) -> Check:
    named = [name for name, key in (("Tavily", settings.tavily_api_key), ("Brave", settings.brave_api_key)) if key]
    return Check("web search", True, ", then ".join(named) or "not configured (TAVILY_API_KEY or BRAVE_API_KEY)")
