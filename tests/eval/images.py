"""NAME images: what becomes of each file, under the limits of a chat part."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from memory.media import CHAT_LIMITS, MediaError, prepare_image


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    for line in (source / "files.jsonl").read_text("utf8").splitlines():
        path = json.loads(line)["path"]
        try:
            prepared = prepare_image((source / path).read_bytes(), limits=CHAT_LIMITS)
        except MediaError as error:
            yield {"path": path, "outcome": f"error:{error.code}", "width": None, "height": None}
        else:
            yield {"path": path, "outcome": prepared.kind, "width": prepared.width, "height": prepared.height}
