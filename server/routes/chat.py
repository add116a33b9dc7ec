"""Sending messages: answered at once, streamed, or with a file; the run goes on when the client leaves."""

import asyncio
import hashlib
import json
import mimetypes
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Header, HTTPException, Query, UploadFile
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import ValidationError

from memory.context import ChatContext
from memory.scope import Scope
from server.access import Caller
from server.deps import Running, RunningApp, SendingCaller
from server.errors import responses
from server.runs import Asked, Draining
from server.schemas.chat import MESSAGE_LIMIT, ResumeRequest, SendReply, SendRequest

router = APIRouter(prefix="/api/chat", tags=["chat"])

FILE_LIMIT = 20 * 1024 * 1024
SKILLS = frozenset({"summarize", "reminders", "research", "stock"})
"""The skills whose ids clients know; what they do is not built yet."""

Debug = Annotated[bool, Query(description="Return the trace too: why the turn went where it went.")]
IdempotencyKey = Annotated[str | None, Header(max_length=256, description="The same key again attaches to the same run.")]
OnDisconnect = Annotated[Literal["continue", "cancel"], Query(description="What becomes of the run when the client leaves.")]


@router.post("/send", response_model_exclude_none=True, responses=responses(404, 409, 413, 429, 503))
async def send(
    body: SendRequest, app: RunningApp, caller: SendingCaller, debug: Debug = False, idempotency_key: IdempotencyKey = None
) -> SendReply:
    """Ask, and wait for the answer. A failed turn is answered too: see `message.error_type`."""
    return await _answer(app, _asked(app, caller, body, key=idempotency_key), debug=debug)


@router.post("/send-with-file", response_model_exclude_none=True, responses=responses(400, 404, 409, 413, 429, 503))
async def send_with_file(
    app: RunningApp,
    caller: SendingCaller,
    message: Annotated[str, Form(max_length=MESSAGE_LIMIT)] = "",
    conversation_id: Annotated[str, Form(max_length=64)] = "",
    skill_id: Annotated[str, Form(max_length=64)] = "",
    device_id: Annotated[str, Form(max_length=256)] = "",
    tz: Annotated[str, Form(max_length=64)] = "",
    file: Annotated[UploadFile | None, File(description="A picture, document or text, up to 20 MB; its type is sniffed.")] = None,
    debug: Debug = False,
    idempotency_key: IdempotencyKey = None,
) -> SendReply:
    """Ask with a file. The same message, sent again within 10 minutes, has the same answer."""
    form = {"message": message, "conversation_id": conversation_id, "skill_id": skill_id or None, "device_id": device_id, "tz": tz}
    try:
        body = SendRequest.model_validate(form)
    except ValidationError as error:
        raise HTTPException(422, "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors())) from None
    data = await file.read(FILE_LIMIT + 1) if file else b""
    if len(data) > FILE_LIMIT:
        raise HTTPException(413, "a file has at most 20 MB")
    if not message and not data:
        raise HTTPException(400, "neither a message nor a file")
    part = await asyncio.to_thread(_file_part, data, file.filename or "") if file and data else None
    return await _answer(app, _asked(app, caller, body, key=idempotency_key, file=part), debug=debug)


@router.post("/stream", response_class=EventSourceResponse, responses=responses(404, 409, 413, 429, 503))
async def stream(
    app: RunningApp,
    caller: SendingCaller,
    body: SendRequest | None = None,
    on_disconnect: OnDisconnect = "continue",
    idempotency_key: IdempotencyKey = None,
    last_event_id: Annotated[str | None, Header(max_length=128, description="Go on after this event; the body is not looked at.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Ask, and hear how the answer comes about: server-sent events, see `server/events.py`."""
    if last_event_id:
        run_id, after = await _place(app, caller, last_event_id)
    elif body is None:
        raise HTTPException(422, "a message, or Last-Event-ID")
    else:
        run_id, _ = await _start(app, _asked(app, caller, body, key=idempotency_key))
        after = -1
    async for event in run_events(app, run_id, after, cancel=on_disconnect == "cancel"):
        yield event


@router.post("/resume", response_model_exclude_none=True, responses=responses(404, 409, 429))
async def resume(body: ResumeRequest, app: RunningApp, caller: SendingCaller) -> SendReply:
    """Answer what an interrupted turn asked; 409 while none waits."""
    if await app.services.conversations.get(body.conversation_id, scope=Scope(caller.owner)) is None:
        raise HTTPException(404, f"no conversation {body.conversation_id}")
    raise HTTPException(409, "no turn of this conversation waits for an answer")


def _asked(app: Running, caller: Caller, body: SendRequest, *, key: str | None, file: dict[str, Any] | None = None) -> Asked:
    if body.skill_id and body.skill_id not in SKILLS:
        raise HTTPException(404, f"no skill {body.skill_id}")
    if not body.message.strip() and not body.parts and file is None:
        raise HTTPException(400, "an empty message")
    context = ChatContext(
        owner=caller.owner,
        device_ids=[body.device_id] if body.device_id else [],
        tz=body.tz or app.settings.timezone or "",
        mode=body.mode,
        skill_id=body.skill_id or "",
        model=body.model or "",
    )
    parts = [*body.parts, *([file] if file else [])]
    return Asked(
        text=body.message,
        context=context,
        parts=parts,
        conversation_id=body.conversation_id,
        resend_key=_resend_key(caller, body, parts, key),
    )


def _resend_key(caller: Caller, body: SendRequest, parts: list[dict[str, Any]], key: str | None) -> str:
    """What makes two requests the same message: the caller's own key, else client, conversation and content."""
    same = ["key", key] if key else ["sent", caller.client, body.model_dump(mode="json", exclude={"tz", "parts"}), parts]
    return hashlib.sha256(json.dumps([caller.owner, *same], sort_keys=True).encode()).hexdigest()


def _file_part(data: bytes, name: str) -> dict[str, Any]:
    import base64

    mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return {"type": "file", "mime_type": mime, "data": base64.b64encode(data).decode(), "filename": name}


async def _start(app: Running, asked: Asked) -> tuple[str, str]:
    try:
        return await app.runs.start(asked)
    except LookupError as error:
        raise HTTPException(404, str(error)) from None


async def _answer(app: Running, asked: Asked, *, debug: bool) -> SendReply:
    run_id, conversation_id = await _start(app, asked)
    outcome = await app.runs.outcome(run_id)
    if outcome.said is None:
        raise Draining
    return SendReply(conversation_id=conversation_id, run_id=run_id, message=outcome.said, trace=outcome.trace if debug else None)


async def _place(app: Running, caller: Caller, event_id: str) -> tuple[str, int]:
    run_id, _, seq = event_id.partition(":")
    if not seq.isdecimal() or len(seq) > 12 or await app.services.runs.get(run_id, scope=Scope(caller.owner)) is None:
        raise HTTPException(404, f"no event {event_id}")
    return run_id, int(seq)


async def run_events(app: Running, run_id: str, after: int, *, cancel: bool = False) -> AsyncIterator[ServerSentEvent]:
    """The run's events as server-sent ones, to its end. `cancel`: a listener who leaves stops the run."""
    ended = False
    try:
        async for event in app.runs.events(run_id, after=after):
            ended = event.type == "end"
            yield ServerSentEvent(data={"type": event.type, **event.data}, event=event.type, id=f"{run_id}:{event.seq}")
    finally:
        if cancel and not ended:
            await app.runs.cancel(run_id)
