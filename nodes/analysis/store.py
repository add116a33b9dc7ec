"""Last step of an analysis: its row and index entry in one transaction, or why there is none."""

from typing import Literal, Protocol

from memory.photos import AnalysisResult, Status
from nodes.analysis.state import AnalysisState


class PhotoStore(Protocol):
    async def save_analysis(self, photo_id: int, result: AnalysisResult) -> bool: ...

    async def fail(self, photo_id: int, message: str) -> Status: ...


async def store(state: AnalysisState, *, photos: PhotoStore) -> AnalysisState:
    """A failed try makes the photo pending again until its tries are used up."""
    error = state.get("error")
    if error:
        failed = await photos.fail(state["photo_id"], error)
        return AnalysisState(status="error" if failed == "error" else "pending")
    if state.get("status") == "gone":
        return AnalysisState(status="gone")
    result = AnalysisResult(**state["draft"], ocr_text=state["ocr"]["text"], engine=state["engine"])
    saved = await photos.save_analysis(state["photo_id"], result)
    status: Literal["done", "gone"] = "done" if saved else "gone"
    return AnalysisState(status=status)
