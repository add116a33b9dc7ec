"""The command line. Every import that costs time is inside its command, so that `evatar --help` is quick."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from server.cli_library import library

if TYPE_CHECKING:
    from memory.context import ChatContext
    from server.turn import TurnResult, Turns

app = typer.Typer(
    name="evatar", help="Evatar：问你的手机截图。Ask questions over your phone screenshots.", no_args_is_help=True, add_completion=False
)
app.registered_commands += library.registered_commands

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def _conversation_id(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[a-f0-9]{1,64}", value):
        raise typer.BadParameter("a conversation id is 1 to 64 characters of 0-9 and a-f")
    return value


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="The question; leave out with -i.")] = None,
    image: Annotated[
        list[Path] | None, typer.Option("--image", exists=True, dir_okay=False, help="A picture or file that goes along.")
    ] = None,
    interactive: Annotated[bool, typer.Option("-i", "--interactive", help="A conversation; an empty line ends it.")] = False,
    conversation: Annotated[str | None, typer.Option(help="Continue the conversation with this id.", callback=_conversation_id)] = None,
    as_json: Json = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show why the turn went where it went.")] = False,
) -> None:
    """Ask about your screenshots, or about a picture."""
    question = (question or "").strip() or None
    if not interactive and not question:
        raise typer.BadParameter("give a question, or -i for a conversation")
    asyncio.run(_ask(question, image or [], interactive=interactive, conversation=conversation, as_json=as_json, trace=trace))


async def _ask(
    question: str | None, images: list[Path], *, interactive: bool, conversation: str | None, as_json: bool, trace: bool
) -> None:
    from graph.services import Services
    from memory.checkpoints import open_saver
    from memory.context import ChatContext
    from server.turn import Turns
    from settings import Settings

    settings = Settings()
    context = ChatContext(owner=settings.owner, tz=settings.timezone or "")
    async with Services.open(settings) as services, open_saver(settings) as saver:
        turns = Turns(services=services, saver=saver)
        while question or interactive:
            if not question:
                question = (await asyncio.to_thread(_prompt)).strip()
                if not question:
                    return
            result = await _one(turns, question, images, conversation=conversation, context=context, as_json=as_json, trace=trace)
            conversation, question, images = result.conversation_id, None, []
            if not interactive:
                return


def _prompt() -> str:
    """A line from standard input; the prompt goes to standard error, so that standard output holds answers only."""
    print("› ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


async def _one(
    turns: "Turns",
    question: str,
    images: list[Path],
    *,
    conversation: str | None,
    context: "ChatContext",
    as_json: bool,
    trace: bool,
) -> "TurnResult":
    parts = [await asyncio.to_thread(_file_part, path) for path in images]
    result = await turns.run(text=question, parts=parts, context=context, conversation_id=conversation)
    if as_json:
        print(json.dumps(_as_json(result), ensure_ascii=False))
    else:
        _show(result, trace=trace)
    return result


def _file_part(path: Path) -> dict[str, Any]:
    import base64
    import mimetypes

    mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return {"type": "file", "mime_type": mime, "data": base64.b64encode(path.read_bytes()).decode(), "filename": path.name}


def _as_json(result: "TurnResult") -> dict[str, Any]:
    fields = ("conversation_id", "text", "citations", "tool_calls", "trace", "degraded", "error_type")
    return {name: getattr(result, name) for name in fields}


def _show(result: "TurnResult", *, trace: bool) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    console = Console()
    if trace:
        table = Table("node", "ms", "decision", "by", "left", title="trace")
        for step in result.trace:
            left = "" if step["budget_left"] is None else f"{step['budget_left']:.1f}"
            table.add_row(step["node"], f"{step['ms']:.1f}", step["decision"], step["by"], left)
        Console(stderr=True).print(table)
    console.print(Markdown(result.text) if console.is_terminal else result.text, markup=False, soft_wrap=not console.is_terminal)
    if console.is_terminal:
        console.print(f"conversation {result.conversation_id}", style="dim")


@app.command()
def graph(analysis: Annotated[bool, typer.Option("--analysis", help="The screenshot analysis graph instead.")] = False) -> None:
    """Print the state machine as Mermaid text."""
    from graph import main

    print((main.analysis if analysis else main.graph).get_graph(xray=True).draw_mermaid())


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check this installation: database, search index, OCR, models, keys."""
    from server.doctor import examine
    from settings import Settings

    checks = asyncio.run(examine(Settings()))
    if as_json:
        print(json.dumps([check.as_dict() for check in checks], ensure_ascii=False))
    else:
        for check in checks:
            print(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


@app.command(hidden=True)
def tour() -> None:
    """What `make run` does: a demo library when there is none, a first question, and how to go on."""
    from server.tour import show

    asyncio.run(show())


def main() -> None:
    """Entry point: wrong settings are told in one line, not in a stack trace."""
    from pydantic import ValidationError

    try:
        app()
    except OSError as error:
        print(f"evatar: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
        sys.exit(1)
    except ValidationError as error:
        if error.title != "Settings":
            raise
        for problem in error.errors():
            print(f"evatar: EVATAR_{'__'.join(map(str, problem['loc'])).upper()}: {problem['msg']}", file=sys.stderr)
        sys.exit(2)
