"""The analysis graph's state: one photo on its way from bytes to a stored analysis. JSON values only."""

from typing import Any, Literal

from typing_extensions import TypedDict

from models.embedded.ocr import OcrResult


class AnalysisInput(TypedDict):
    photo_id: int


class AnalysisState(TypedDict, total=False):
    """`reading`: the vision model's object, as it came. `draft`: summary, app_name, content_category, intent, entities and confidence.

    `status`: as stored; `gone`: the photo was deleted meanwhile. `error`: why the picture could not be read.
    """

    photo_id: int
    file_name: str
    ocr: OcrResult
    reading: dict[str, Any] | None
    engine: str
    draft: dict[str, Any]
    error: str | None
    status: Literal["done", "pending", "error", "gone"]
