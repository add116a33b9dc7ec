"""Passages as the text of screenshots, questions answered through the library's own search."""

import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from memory.database import Database
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.service import Knowledge
from settings.settings import Settings
from tests.bulk import store_texts

SCOPE = Scope(owner="local")


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    data = json.loads(source.read_text(encoding="utf8"))  # noqa: ASYNC240
    with tempfile.TemporaryDirectory() as folder:
        db = await Database.open(Settings(data_dir=Path(folder), _env_file=None))  # type: ignore[call-arg]
        index = SqliteSearchIndex()
        ids = await store_texts(db, index, [doc["text"] for doc in data["docs"]], owner=SCOPE.owner)
        names = dict(zip(ids, (doc["id"] for doc in data["docs"]), strict=True))
        knowledge = Knowledge(db, index)
        for question in data["questions"]:
            found = await knowledge.search(question["q"], scope=SCOPE, limit=10)
            yield {"id": question["id"], "ranked": [names[hit.photo_id] for hit in found.hits]}
        await db.close()
