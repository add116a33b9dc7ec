"""Runs: how they stand, their events, and stopping them."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent

from memory.scope import Scope
from memory.tables import Run
from server.access import Caller
from server.deps import CurrentCaller, Running, RunningApp
from server.errors import responses
from server.routes.chat import run_events
from server.schemas.chat import ChatMessage, RunView

router = APIRouter(prefix="/api/runs", tags=["runs"], responses=responses(404))


@router.get("/{run_id}", response_model_exclude_none=True)
async def show(run_id: str, app: RunningApp, caller: CurrentCaller) -> RunView:
    return await _view(app, await _found(app, caller, run_id))


@router.get("/{run_id}/events", response_class=EventSourceResponse)
async def events(
    run_id: str, app: RunningApp, caller: CurrentCaller, last_event_id: Annotated[str | None, Header(max_length=128)] = None
) -> AsyncIterator[ServerSentEvent]:
    """All events of the run, or those after `Last-Event-ID`, to its end."""
    await _found(app, caller, run_id)
    seq = (last_event_id or "").rpartition(":")[2]
    async for event in run_events(app, run_id, int(seq) if seq.isdecimal() and len(seq) <= 12 else -1):
        yield event


@router.post("/{run_id}/cancel", response_model_exclude_none=True)
async def cancel(run_id: str, app: RunningApp, caller: CurrentCaller) -> RunView:
    """Stop the run; one that has ended stays as it is. A run of another process stops within its heartbeat."""
    await _found(app, caller, run_id)
    await app.runs.cancel(run_id)
    return await _view(app, await _found(app, caller, run_id))


async def _found(app: Running, caller: Caller, run_id: str) -> Run:
    run = await app.services.runs.get(run_id, scope=Scope(caller.owner))
    if run is None:
        raise HTTPException(404, f"no run {run_id}")
    return run


async def _view(app: Running, run: Run) -> RunView:
    said = [event for event in await app.services.runs.events(run.id) if event.type == "message"]
    return RunView(
        id=run.id,
        conversation_id=run.conversation_id,
        status=run.status,  # type: ignore[arg-type]
        error_type=run.error_type,  # type: ignore[arg-type]
        created_at=run.created_at,
        finished_at=run.finished_at,
        message=ChatMessage.model_validate(said[-1].data["message"]) if said else None,
    )
