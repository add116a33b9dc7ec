"""An invented phone: its screenshots in a library, and questions put to the embedded chat model with the knowledge tools at hand."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from graph.services import Services
from memory.scope import Scope
from models.embedded.chat.member import EmbeddedChat
from nodes.prompts import chat_system
from settings import Settings
from tests.library import Shot, add
from tools.knowledge import KNOWLEDGE_TOOLS, run_knowledge
from tools.web import WEB_TOOLS, run_web

NOW = datetime.fromisoformat("2026-09-28T12:00:00+08:00")
SCOPE = Scope("local")
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """`cited`: names of the screenshots in the order of their first citation; `calls`: (tool, arguments) of every round."""

    text: str
    cited: list[str]
    calls: list[tuple[str, dict[str, Any]]]


def screens() -> dict[str, Shot]:
    """The phone's screenshots by name."""
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))
    return {
        name: Shot(
            summary=_summary(entry["text"]),
            text=entry["text"],
            app=entry["app"],
            category=entry["category"],
            taken_at=entry["taken_at"].isoformat(),
            filename=name,
        )
        for name, entry in listed.items()
    }


def _summary(text: str) -> str:
    return "，".join(text.split("\n")[1:4]) or "图中没有文字"


async def fill(data_dir: Path) -> None:
    async with Services.open(Settings(data_dir=data_dir)) as services:
        for shot in screens().values():
            await add(services, shot)


async def ask(question: str, *, services: Services, earlier: Sequence[AnyMessage] = ()) -> Answered:
    """One turn: the model and its tools, the last of three rounds without tools."""
    scratch: list[AnyMessage] = []
    calls: list[tuple[str, dict[str, Any]]] = []
    for number in range(1, ROUNDS + 1):
        chat = EmbeddedChat()
        model = chat if number == ROUNDS else chat.bind_tools([*KNOWLEDGE_TOOLS, *WEB_TOOLS])
        whole: AIMessageChunk | None = None
        async for chunk in model.astream([SystemMessage(chat_system(NOW)), *earlier, HumanMessage(question), *scratch]):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None
        scratch.append(AIMessage(str(whole.text), tool_calls=whole.tool_calls))
        if not whole.tool_calls:
            break
        for call in whole.tool_calls:
            calls.append((call["name"], call["args"]))
            scratch.append(ToolMessage(await _run(call["name"], call["args"], services), tool_call_id=call["id"]))
    text = str(scratch[-1].text)
    names = {photo.photo.id: photo.photo.filename for photo in (await services.photos.list(scope=SCOPE, page_size=100)).items}
    cited = dict.fromkeys(int(number) for number in re.findall(r"\[截图#(\d+)\]", text))
    return Answered(text, [names[photo_id] for photo_id in cited], calls)


async def _run(name: str, args: dict[str, Any], services: Services) -> str:
    if name == "web_search":
        return await run_web(args, providers=[])
    return await run_knowledge(name, args, knowledge=services.knowledge, scope=SCOPE, now=NOW)
