"""What routes are given: the parts of the running application, and who calls."""

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.services import Services
from memory.jobs import JobQueue
from server.access import Caller, caller, limit_sends
from server.runs import RunManager
from settings import Settings


@dataclass(frozen=True, slots=True)
class Running:
    """One application between its start and its end."""

    settings: Settings
    services: Services
    saver: AsyncSqliteSaver
    runs: RunManager
    jobs: JobQueue


def running(request: Request) -> Running:
    return cast(Running, request.app.state.running)


RunningApp = Annotated[Running, Depends(running)]
CurrentCaller = Annotated[Caller, Depends(caller)]
SendingCaller = Annotated[Caller, Depends(limit_sends)]
"""The caller of a route that costs a turn: within the rate limit, or 429."""
