"""Photos and analyses for tests."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from memory.photos import AnalysisResult, NewPhoto

NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)
EAST = timezone(timedelta(hours=8))


class Clock:
    """A clock that goes when told to."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, delta: timedelta) -> None:
        self.now += delta


def new_photo(name: str, *, owner: str = "ann", **changes: Any) -> NewPhoto:
    """A picture whose bytes are its name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    given: dict[str, Any] = {
        "owner": owner,
        "sha256": digest,
        "filename": f"{name}.png",
        "mime_type": "image/png",
        "byte_size": 1000,
        "width": 1080,
        "height": 2400,
        "blob_key": f"{digest[:2]}/{digest[2:4]}/{digest}.png",
        "working_key": f"{digest[:2]}/{digest[2:4]}/{digest}.png",
        "thumbnail_key": f"th/um/{digest}.jpg",
        "captured_at": datetime(2026, 5, 19, 18, 0, tzinfo=EAST),
        "time_source": "filename",
    }
    return NewPhoto(**given | changes)


def result(text: str = "取件码 8-2-1031", **changes: Any) -> AnalysisResult:
    given: dict[str, Any] = {
        "summary": f"一张截图：{text}",
        "app_name": "菜鸟",
        "content_category": "notification",
        "intent": "reminder",
        "entities": [{"type": "取件码/验证码", "value": "8-2-1031"}],
        "ocr_text": text,
        "confidence": 0.8,
        "engine": "test",
    }
    return AnalysisResult(**given | changes)
