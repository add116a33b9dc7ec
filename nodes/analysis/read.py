"""First step of an analysis: the picture's text by OCR and, where a vision model is configured, what that model sees."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from langgraph.runtime import Runtime

from memory.context import ChatContext
from memory.photos import StoredPhoto
from memory.scope import Scope
from models.embedded.ocr import ENGINE, OcrResult
from nodes.analysis.state import AnalysisState


class PhotoSource(Protocol):
    async def get(self, photo_id: int, *, scope: Scope) -> StoredPhoto | None: ...


class Blobs(Protocol):
    async def get(self, key: str) -> bytes: ...


class VisionPool(Protocol):
    """Reads a screenshot: the model's JSON object and its name, or None after any classified failure."""

    async def read(self, picture: bytes, *, owner: str, asset_id: str) -> tuple[dict[str, Any], str] | None: ...


Ocr = Callable[[bytes], Awaitable[OcrResult]]


async def read(
    state: AnalysisState, runtime: Runtime[ChatContext], *, photos: PhotoSource, blobs: Blobs, ocr: Ocr, vision: VisionPool | None
) -> AnalysisState:
    """The text is kept whoever sees the picture: it is what searches find."""
    context = runtime.context or ChatContext()
    stored = await photos.get(state["photo_id"], scope=context.scope)
    if stored is None:
        return AnalysisState(status="gone", error=None)
    photo, asset, _ = stored
    try:
        picture = await blobs.get(asset.working_key or asset.blob_key)
        text, seen = await asyncio.gather(ocr(picture), _look(picture, vision=vision, owner=photo.owner, asset_id=asset.id))
    except (OSError, BrokenProcessPool) as error:
        return AnalysisState(error=f"{type(error).__name__}: {error}")
    reading, model = seen or (None, "")
    return AnalysisState(file_name=photo.filename, ocr=text, reading=reading, engine=f"{model}+{ENGINE}" if model else ENGINE, error=None)


def after_read(state: AnalysisState) -> str:
    """What could not be read goes straight to `store`, which notes the failure."""
    return "store" if state.get("error") or state.get("status") == "gone" else "extract"


async def _look(picture: bytes, *, vision: VisionPool | None, owner: str, asset_id: str) -> tuple[dict[str, Any], str] | None:
    return await vision.read(picture, owner=owner, asset_id=asset_id) if vision else None
