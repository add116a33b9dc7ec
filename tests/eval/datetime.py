"""Time words as ranges of days."""

import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from memory.search.dates import parse_time


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    for line in source.read_text(encoding="utf8").splitlines():  # noqa: ASYNC240
        row = json.loads(line)
        now = datetime.fromisoformat(row["now"]).astimezone(ZoneInfo(row["tz"]))
        found = parse_time(row["text"], now=now)
        days = {"start": found.start.date().isoformat(), "end": found.end.date().isoformat()} if found else {"start": None, "end": None}
        yield {"id": row["id"], **days}
