"""The run manager: turns that go on when their client leaves, one at a time in a conversation, taken over when their process dies."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from graph.services import Services
from memory.context import ChatContext
from memory.language import language_of
from memory.runs import TRIES, NewRun, Runs, Status, StoredEvent, message_of
from memory.scope import Scope
from memory.tables import Run
from models.errors import POLICIES, ErrorClass, message_for
from server.events import Ended, Event, Failed, Retried, RunStarted, Said, Translator
from server.run_log import RunLog
from server.schemas.chat import ChatMessage, ToolCall, TraceStep
from server.turn import TurnResult, Turns, new_conversation_id

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 5.0
STORE_SECONDS = 0.25
POLL_SECONDS = 0.3
DRAIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A message that came through a door. Messages with the same `resend_key` are one, sent again; None is never sent again."""

    text: str
    context: ChatContext
    parts: Sequence[dict[str, Any]] = ()
    conversation_id: str | None = None
    resend_key: str | None = None


@dataclass(slots=True)
class _Live:
    """A run of this process."""

    run: Run
    log: RunLog
    control: RunControl = field(default_factory=RunControl)
    task: "asyncio.Task[None] | None" = None
    cancelled: bool = False
    lost: bool = False
    closing: bool = False


class Draining(Exception):
    """This process ends and takes no more turns."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. No reply: this process stops, and the run goes on in the next one; or the run was deleted."""

    said: ChatMessage | None
    trace: list[TraceStep]


class RunManager:
    """All runs of this process. Listeners read a run's events; only cancel, drain or a lost lease stops it."""

    def __init__(self, *, services: Services, turns: Turns, executor: str, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._services = services
        self._turns = turns
        self._executor = executor
        self._heartbeat_seconds = heartbeat_seconds
        self._runs: Runs = services.runs
        self._live: dict[str, _Live] = {}
        self._arriving: dict[str, asyncio.Lock] = {}
        self._closed: set[str] = set()
        self._draining = False

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        services: Services,
        saver: AsyncSqliteSaver,
        executor: str,
        abandoned: Sequence[str] = (),
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> AsyncIterator[Self]:
        """`abandoned` are executors known to be dead: their runs are taken over at once."""
        turns = Turns(services=services, saver=saver)
        manager = cls(services=services, turns=turns, executor=executor, heartbeat_seconds=heartbeat_seconds)
        await manager._take_over(abandoned)
        keepers = [asyncio.create_task(manager._beat()), asyncio.create_task(manager._store())]
        try:
            yield manager
        finally:
            await manager.drain()
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)

    @property
    def draining(self) -> bool:
        return self._draining

    # What the doors call

    async def start(self, asked: Asked) -> tuple[str, str]:
        """Store the message and start its turn, or attach to the run it already has: (run id, conversation id).

        Raises LookupError for an unknown conversation, memory.runs.Busy while it has an active run, Draining at the end of the process.
        """
        if self._draining:
            raise Draining
        if asked.resend_key is None:
            return await self._start(asked)
        lock = self._arriving.setdefault(asked.resend_key, asyncio.Lock())
        try:
            async with lock:
                known = await self._runs.resent(asked.resend_key)
                return (known.id, known.conversation_id) if known else await self._start(asked)
        finally:
            if not lock.locked():
                self._arriving.pop(asked.resend_key, None)

    async def _start(self, asked: Asked) -> tuple[str, str]:
        context, conversation_id = asked.context, asked.conversation_id or new_conversation_id()
        if asked.conversation_id and not await self._is_open(conversation_id, owner=context.owner):
            raise LookupError(f"no conversation {conversation_id}")
        message = await self._turns.accept(text=asked.text, parts=asked.parts, owner=context.owner, conversation_id=conversation_id)
        new = NewRun(
            id=secrets.token_hex(16),
            owner=context.owner,
            conversation_id=conversation_id,
            message=message,
            context={key: value for key, value in asdict(context).items() if value},
            executor=self._executor,
            resend_key=asked.resend_key,
            device_id=context.device_ids[0] if context.device_ids else None,
            tz=context.tz or None,
        )
        run, fresh = None, False
        try:
            run, fresh = await self._runs.begin(new)
        finally:
            if not fresh:
                await self._services.assets.forget_message(new.message.id or "", scope=Scope(context.owner))
        if fresh:
            self._launch(run, message, context)
        return run.id, run.conversation_id

    async def _is_open(self, conversation_id: str, *, owner: str) -> bool:
        there = await self._services.conversations.get(conversation_id, scope=Scope(owner))
        return there is not None and conversation_id not in self._closed

    @asynccontextmanager
    async def closed(self, conversation_id: str) -> AsyncIterator[None]:
        """Inside, the conversation has no run: the active one is stopped, and no other starts."""
        self._closed.add(conversation_id)
        try:
            while (run := await self._runs.active_in(conversation_id)) is not None:
                await self.cancel(run.id)
                await self.outcome(run.id)
                await self._gone(run.id)
            yield
        finally:
            self._closed.discard(conversation_id)

    async def _gone(self, run_id: str) -> None:
        """Its last event is told a moment before its task ends."""
        live = self._live.get(run_id)
        if live is not None and live.task is not None:
            await asyncio.wait([live.task])

    async def events(self, run_id: str, *, after: int = -1) -> AsyncIterator[StoredEvent]:
        """Every event above `after`, as they come, to the end of the run, whichever process runs it."""
        last = ""
        while last != "end":
            live = self._live.get(run_id)
            heard = 0
            async for event in _heard(live.log, self._runs, run_id, after) if live else _stored(self._runs, run_id, after):
                after, last, heard = event.seq, event.type, heard + 1
                yield event
            if heard or run_id in self._live:
                continue
            run = await self._runs.find(run_id)
            if run is None or run.status != "active":
                last = "end"
                yield StoredEvent(after + 1, "end", {"status": run.status if run else "cancelled"})
            else:
                await asyncio.sleep(POLL_SECONDS)

    async def outcome(self, run_id: str) -> "Outcome":
        """The run's end, waited for."""
        said, trace = None, []
        async for event in self.events(run_id):
            if event.type == "message":
                said = ChatMessage.model_validate(event.data["message"])
            elif event.type == "step":
                trace.append(TraceStep.model_validate(event.data))
        return Outcome(said, trace)

    async def cancel(self, run_id: str) -> None:
        """Stop the run, here at once, in another process at its next heartbeat."""
        if run_id in self._live:
            self._cancel_live(run_id)
        else:
            await self._runs.request_cancel(run_id)

    def _cancel_live(self, run_id: str) -> None:
        live = self._live[run_id]
        if live.task is not None and not live.closing:
            live.cancelled = True
            live.task.cancel()

    def _let_go(self, run_id: str) -> None:
        """Another process runs it by now, or it was deleted: nothing more is said of it here."""
        live = self._live[run_id]
        if live.task is not None and not live.closing:
            live.lost = True
            live.task.cancel()

    async def drain(self, *, seconds: float = DRAIN_SECONDS) -> None:
        """Take no more turns and stop the running ones at their next step; what is left goes on in another process."""
        self._draining = True
        tasks = [live.task for live in self._live.values() if live.task]
        for live in self._live.values():
            live.control.request_drain()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # What runs

    def _launch(self, run: Run, message: HumanMessage, context: ChatContext) -> None:
        live = _Live(run, RunLog(attempt=run.tries))
        self._live[run.id] = live
        live.log.add(
            RunStarted(run_id=run.id, conversation_id=run.conversation_id, message_id=run.message_uid, attempt=run.tries),
            *([Retried(reason="restarted")] if run.tries > 1 else []),
        )
        live.task = asyncio.create_task(self._execute(live, message, context), name=f"run {run.id}")

    async def _execute(self, live: _Live, message: HumanMessage, context: ChatContext) -> None:
        run, translator = live.run, Translator()
        try:
            try:
                if run.tries > TRIES:
                    raise RuntimeError(f"cut off {TRIES} times")
                result = await self._turns.go(
                    message,
                    conversation_id=run.conversation_id,
                    context=context,
                    on_part=lambda part: live.log.add(*translator.events(part)),
                    control=live.control,
                    again=run.tries > 1,
                )
            except GraphDrained:
                await self._give_back(live)
            except asyncio.CancelledError:
                if live.cancelled:
                    await self._fail(live, message, ErrorClass.CANCELLED)
                elif not live.lost:
                    await self._give_back(live)
            except Exception:  # whatever happened, the accepted message gets an answer
                logger.exception("run %s", run.id)
                await self._fail(live, message, ErrorClass.INTERNAL)
            else:
                await self._succeed(live, result)
        finally:
            live.log.close()
            self._live.pop(run.id, None)

    async def _succeed(self, live: _Live, result: TurnResult) -> None:
        said = ChatMessage(
            id=f"{live.run.message_uid}-reply",
            content=result.text,
            tool_calls=[ToolCall(**call) for call in result.tool_calls],
            citations=result.citations,
            assets=result.asset_ids,
            error_type=result.error_type,
            degraded=result.degraded or None,
        )
        await self._finish(live, said, status="failed" if said.error_type else "done")

    async def _fail(self, live: _Live, message: HumanMessage, error: ErrorClass) -> None:
        """Say it in the transcript, where the reply would be."""
        run, text = live.run, message_for(error, language_of(str(message.text)))
        error_type = POLICIES[error].error_type
        reply = AIMessage(text, id=f"{run.message_uid}-reply", additional_kwargs={"error_type": error_type})
        at = datetime.now().astimezone()
        await self._services.conversations.record(owner=run.owner, conversation_id=run.conversation_id, messages=[reply], at=at)
        said = ChatMessage(id=reply.id, content=text, error_type=error_type)
        await self._finish(live, said, status="cancelled" if error is ErrorClass.CANCELLED else "failed")

    async def _finish(self, live: _Live, said: ChatMessage, *, status: Status) -> None:
        """The last events are stored before anybody hears them."""
        live.closing = True
        run = live.run
        failed = [Failed(error_type=said.error_type, message=said.content)] if said.error_type else []
        last: list[Event] = [Said(message=said), *failed, Ended(status=status)]  # type: ignore[arg-type]
        async with live.log.saving:  # a listener that sees the end in the database has all that came before it
            kept = await self._runs.finish(
                run.id,
                owner=run.owner,
                executor=self._executor,
                status=status,
                error_type=said.error_type,
                events=live.log.stage(last),
            )
        if kept:
            live.log.publish()

    async def _give_back(self, live: _Live) -> None:
        await self._runs.release(executor=self._executor, run_ids=[live.run.id])
        live.log.add(Ended(status="restarting"))

    # What keeps runs alive

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            try:
                if self._live:
                    leases = await self._runs.heartbeat(executor=self._executor, run_ids=list(self._live))
                    for run_id in leases.wanted & self._live.keys():
                        self._cancel_live(run_id)
                    for run_id in leases.lost & self._live.keys():
                        self._let_go(run_id)
                await self._take_over()
            except Exception:  # a database that is away for a moment must not end the beat
                logger.exception("heartbeat")

    async def _take_over(self, abandoned: Sequence[str] = ()) -> None:
        if self._draining:
            return
        for run in await self._runs.take_over(executor=self._executor, abandoned=abandoned):
            if run.id not in self._live:
                self._launch(run, message_of(run), ChatContext(**run.input["context"]))

    async def _store(self) -> None:
        """Write what was told since, so that a listener of another process, or after a restart, hears it too."""
        while True:
            await asyncio.sleep(STORE_SECONDS)
            for live in list(self._live.values()):
                async with live.log.saving:
                    events, forgotten = live.log.take()
                    if events:
                        try:
                            await self._runs.append(live.run.id, events, owner=live.run.owner, forgotten=forgotten)
                        except Exception:  # the run goes on without them: its reply is stored at its end
                            logger.exception("events of run %s", live.run.id)


async def _stored(runs: Runs, run_id: str, after: int) -> AsyncIterator[StoredEvent]:
    for event in await runs.events(run_id, after=after):
        yield event


async def _heard(log: RunLog, runs: Runs, run_id: str, after: int) -> AsyncIterator[StoredEvent]:
    """What earlier tries have left, then this one as it goes."""
    if after < log.first - 1:
        for event in await runs.events(run_id, after=after):
            if event.seq < log.first:
                yield event
    async for event in log.listen(max(after, log.first - 1)):
        yield event
