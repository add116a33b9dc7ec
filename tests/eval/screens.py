"""A folder of screenshots is imported, then every question goes through the graph at its own clock."""

import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graph.services import Services
from memory.checkpoints import open_saver
from memory.context import ChatContext
from memory.scope import Scope
from server.library import import_paths
from server.turn import Turns
from settings import Settings

ZONE = "Asia/Shanghai"
PAGE = 100


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    questions = [json.loads(line) for line in (source / "questions.jsonl").read_text("utf8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        # keys of the host would bring in remote models: the figures are those of the embedded ones
        settings = Settings(data_dir=Path(folder), timezone=ZONE, openai_api_key=None, tavily_api_key=None, brave_api_key=None)
        await import_paths(settings, [source / "screens"])
        async with Services.open(settings) as services, open_saver(settings) as saver:
            pictures = await described(services)
            for picture in pictures.values():
                yield picture
            names = {photo_id: picture["file"] for photo_id, picture in pictures.items()}
            turns = Turns(services=services, saver=saver)
            for question in questions:
                yield await answered(question, turns=turns, names=names)


async def described(services: Services) -> dict[int, dict[str, Any]]:
    """What the import knows of each picture, by photo id."""
    scope = Scope(services.settings.owner)
    pictures: dict[int, dict[str, Any]] = {}
    number = 1
    while photos := (await services.photos.list(scope=scope, page=number, page_size=PAGE)).items:
        for stored in photos:
            pictures[stored.photo.id] = {
                "file": stored.photo.filename,
                "app_name": stored.analysis.app_name,
                "content_category": stored.analysis.content_category,
                "taken_at": stored.taken_at.isoformat(),
            }
        number += 1
    return pictures


async def answered(question: Mapping[str, Any], *, turns: Turns, names: Mapping[int, str]) -> dict[str, Any]:
    """One turn of a conversation of its own."""
    context = ChatContext(now=question["now"], tz=question.get("tz") or ZONE)
    try:
        result = await turns.run(text=question["q"], context=context)
    except Exception as error:  # a question that breaks the turn is a figure of its own
        return {"id": question["id"], "answer": "", "evidence": [], "error": repr(error)}
    return {"id": question["id"], "answer": result.text, "evidence": evidence(result.citations, names), "error": result.error_type}


def evidence(citations: Sequence[int], names: Mapping[int, str]) -> list[str]:
    """File names of the cited photos in the order cited."""
    return [names[photo_id] for photo_id in citations if photo_id in names]
