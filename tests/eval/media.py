"""NAME media: the pictures of a message, with fetching and DNS off."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from memory.media import CHAT_LIMITS, MediaError, prepare_image
from memory.parts import Candidate, parse_message


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    for line in source.read_text("utf8").splitlines():  # noqa: ASYNC240
        row = json.loads(line)
        message = row["input"]["messages"][-1] if "messages" in row["input"] else row["input"]
        parsed = parse_message(message, base_url=row["baseUrl"])
        images = []
        rejected = [item.code for item in parsed.rejected]
        for candidate in parsed.candidates:
            try:
                images += _images(candidate)
            except MediaError as error:
                rejected.append(error.code)
        yield {"id": row["id"], "images": images, "rejected": rejected}


def _images(candidate: Candidate) -> list[str]:
    if candidate.data is None:
        return [candidate.url or f"asset://{candidate.asset_id}"] if candidate.kind == "image" else []
    prepared = prepare_image(candidate.data, limits=CHAT_LIMITS)
    return [f"data:{prepared.mime_type};base64,{base64.b64encode(candidate.data).decode()}"] if prepared.kind == "image" else []
