"""What `make run` shows: a demo library when there is none, a first question, and how to go on."""

from pathlib import Path

from rich.console import Console

from graph.services import Services
from memory.checkpoints import open_saver
from memory.context import ChatContext
from memory.scope import Scope
from server.library import import_paths
from server.progress import import_progress
from server.turn import Turns
from settings import Settings

DEMO = Path(__file__).parent / "demo"
QUESTION = "我的取件码是多少？"
HOW_TO_GO_ON = """\
How to go on (接下来):
  .venv/bin/evatar ask "昨天截了哪些图"          ask your own question
  .venv/bin/evatar ask -i                       a conversation
  .venv/bin/evatar import ~/Pictures            import your screenshots
  .venv/bin/evatar --help                       everything else"""


async def show() -> None:
    settings = Settings()
    console = Console(soft_wrap=True, highlight=False)
    async with Services.open(settings) as services:
        counts = await services.photos.counts(scope=Scope(settings.owner))
    if counts.total == 0:
        console.print(f"The library in {settings.data_dir} is empty: importing the demo screenshots.")
        with import_progress() as on_progress:
            await import_paths(settings, [DEMO], on_progress=on_progress)
    console.print(f"\n› {QUESTION}\n", markup=False)
    async with Services.open(settings) as services, open_saver(settings) as saver:
        context = ChatContext(owner=settings.owner, tz=settings.timezone or "")
        result = await Turns(services=services, saver=saver).run(text=QUESTION, context=context)
    console.print(result.text, markup=False)
    console.print(f"\n{HOW_TO_GO_ON}", markup=False)
