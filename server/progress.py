"""The import's progress bar."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from server.importer import ImportReport
from server.importer import Progress as OnProgress


@contextmanager
def import_progress(*, quiet: bool = False) -> Iterator[OnProgress]:
    """A bar on standard error while it is a terminal; a callback that does nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda _report: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("importing", total=None)

        def show(report: ImportReport) -> None:
            bar.update(task, total=report.total, completed=report.finished)

        yield show
