"""Turns that outlive their request: who runs them, what they told their listeners, and the leases that let another process take over."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from langchain_core.messages import HumanMessage, message_to_dict, messages_from_dict
from sqlalchemy import and_, delete, false, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from memory.conversations import Conversations
from memory.database import Database
from memory.scope import Scope
from memory.tables import Conversation, Run, RunEvent, stamp

Status = Literal["active", "done", "failed", "cancelled"]
LEASE = timedelta(seconds=20)
RESEND_WINDOW = timedelta(minutes=10)
TRIES = 3
SEQ_PER_TRY = 1 << 20
"""Events of a run's next try are numbered from here on, above all that a killed process may have told without storing it."""


class Busy(Exception):
    """The conversation has an active run."""


class Leases(NamedTuple):
    """What a heartbeat learns of this executor's runs: those to stop, and those that are another executor's by now."""

    wanted: set[str]
    lost: set[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """`message` is stored without bytes and has its id; `context` holds the rest of the turn's choices as JSON."""

    id: str
    owner: str
    conversation_id: str
    message: HumanMessage
    context: dict[str, Any]
    executor: str
    resend_key: str | None = None
    device_id: str | None = None
    tz: str | None = None


class StoredEvent(NamedTuple):
    seq: int
    type: str
    data: dict[str, Any]


class Runs:
    """Every read by a user takes a scope; the executors' calls name the executor, and change nothing of another one's."""

    def __init__(self, db: Database, conversations: Conversations, *, clock: Callable[[], datetime] | None = None) -> None:
        self._db = db
        self._conversations = conversations
        self._clock = clock or (lambda: datetime.now().astimezone())

    async def begin(self, new: NewRun) -> tuple[Run, bool]:
        """The user's message and its run, in one transaction; or the run that the same message already has, and False.

        Raises Busy while the conversation has an active run, LookupError for a conversation of another owner.
        """
        try:
            return await self._begin(new)
        except IntegrityError:  # on PostgreSQL another process was faster; now its run is there to see
            return await self._begin(new)

    async def _begin(self, new: NewRun) -> tuple[Run, bool]:
        now = self._clock()
        async with self._db.begin() as session:
            for run in await session.scalars(select(Run).where(or_(_same(new.resend_key, now), _active_in(new.conversation_id)))):
                if run.resend_key is not None and run.resend_key == new.resend_key:
                    return run, False
                raise Busy(run.id)
            # A message is a resend only as long as the conversation has not gone on.
            ended = and_(Run.status != "active", or_(Run.conversation_id == new.conversation_id, Run.resend_key == new.resend_key))
            await session.execute(update(Run).where(Run.resend_key.is_not(None), ended).values(resend_key=None))
            await self._conversations.write(
                session,
                owner=new.owner,
                conversation_id=new.conversation_id,
                messages=[new.message],
                at=now,
                device_id=new.device_id,
                tz=new.tz,
            )
            run = Run(
                id=new.id,
                conversation_id=new.conversation_id,
                message_uid=new.message.id,
                status="active",
                input={"message": message_to_dict(new.message), "context": new.context},
                resend_key=new.resend_key,
                executor=new.executor,
                lease_until=now + LEASE,
                tries=1,
                cancel_requested=False,
                owner=new.owner,
                **stamp(now),
            )
            session.add(run)
        return run, True

    async def resent(self, resend_key: str) -> Run | None:
        """The run that this message has, if it is sent again."""
        async with self._db.session() as session:
            return await session.scalar(select(Run).where(_same(resend_key, self._clock())))

    async def get(self, run_id: str, *, scope: Scope) -> Run | None:
        owned = select(Run).where(Run.id == run_id, Run.owner == scope.owner)
        if scope.devices is not None:
            owned = owned.join(Conversation).where(Conversation.device_id.in_(scope.devices))
        async with self._db.session() as session:
            return await session.scalar(owned)

    async def find(self, run_id: str) -> Run | None:
        """For whoever runs it, not for its listeners."""
        async with self._db.session() as session:
            return await session.get(Run, run_id)

    async def active_in(self, conversation_id: str) -> Run | None:
        async with self._db.session() as session:
            return await session.scalar(select(Run).where(_active_in(conversation_id)))

    async def events(self, run_id: str, *, after: int = -1) -> Sequence[StoredEvent]:
        query = select(RunEvent).where(RunEvent.run_id == run_id, RunEvent.seq > after).order_by(RunEvent.seq)
        async with self._db.session() as session:
            return [StoredEvent(row.seq, row.type, row.data) for row in await session.scalars(query)]

    async def append(self, run_id: str, events: Sequence[StoredEvent], *, owner: str, forgotten: Collection[int] = ()) -> None:
        """Store what was told; `forgotten` are the numbers of stored events that a gap among `events` stands for."""
        async with self._db.begin() as session:
            await self._write(session, run_id, events, owner=owner, forgotten=forgotten)

    async def finish(
        self, run_id: str, *, owner: str, executor: str, status: Status, error_type: str | None, events: Sequence[StoredEvent]
    ) -> bool:
        """End the run with its last events. False: it was taken over, or deleted, meanwhile, and nothing is written."""
        now = self._clock()
        mine = update(Run).where(Run.id == run_id, Run.executor == executor, Run.status == "active")
        ended: dict[str, Any] = {"status": status, "error_type": error_type, "finished_at": now, "lease_until": None, "input": {}}
        async with self._db.begin() as session:
            if await session.scalar(mine.values(**ended).returning(Run.id)) is None:
                return False
            await self._write(session, run_id, events, owner=owner)
        return True

    async def _write(
        self, session: AsyncSession, run_id: str, events: Sequence[StoredEvent], *, owner: str, forgotten: Collection[int] = ()
    ) -> None:
        if forgotten:
            await session.execute(delete(RunEvent).where(RunEvent.run_id == run_id, RunEvent.seq.in_(forgotten)))
        if events:
            made = {"run_id": run_id, "owner": owner, **stamp(self._clock())}
            await session.execute(self._db.insert(RunEvent.__table__), [{**event._asdict(), **made} for event in events])

    async def heartbeat(self, *, executor: str, run_ids: Collection[str]) -> Leases:
        """Renew the leases of these runs."""
        mine = and_(Run.id.in_(run_ids), Run.executor == executor, Run.status == "active")
        async with self._db.begin() as session:
            await session.execute(update(Run).where(mine).values(lease_until=self._clock() + LEASE))
            rows = (await session.execute(select(Run.id, Run.cancel_requested).where(mine))).all()
        return Leases({run_id for run_id, wanted in rows if wanted}, set(run_ids) - {run_id for run_id, _ in rows})

    async def request_cancel(self, run_id: str) -> None:
        """Ask the executor of the run to stop it."""
        async with self._db.begin() as session:
            await session.execute(update(Run).where(Run.id == run_id, Run.status == "active").values(cancel_requested=True))

    async def release(self, *, executor: str, run_ids: Collection[str]) -> None:
        """Give runs back: they are free to be taken over at once, and the try does not count."""
        mine = and_(Run.id.in_(run_ids), Run.executor == executor, Run.status == "active")
        async with self._db.begin() as session:
            await session.execute(update(Run).where(mine).values(lease_until=self._clock(), tries=Run.tries - 1))

    async def take_over(self, *, executor: str, abandoned: Collection[str] = ()) -> Sequence[Run]:
        """Active runs whose lease ended, or whose executor is known to be gone. Each has one taker; `tries` is counted up."""
        now = self._clock()
        free = and_(Run.status == "active", or_(Run.lease_until <= now, Run.executor.in_(abandoned)))
        async with self._db.begin() as session:
            taken = (await session.scalars(select(Run).where(free).with_for_update(skip_locked=True))).all()
            for run in taken:
                run.executor, run.lease_until = executor, now + LEASE
                run.tries += 1
        return taken

    async def forget_events(self, *, before: datetime) -> None:
        """Remove the events of runs that ended before this time; their messages are in the transcript."""
        old = select(Run.id).where(Run.finished_at < before)
        async with self._db.begin() as session:
            await session.execute(delete(RunEvent).where(RunEvent.run_id.in_(old)))

    async def count_active(self) -> int:
        async with self._db.session() as session:
            return await session.scalar(select(func.count()).select_from(Run).where(Run.status == "active")) or 0


def message_of(run: Run) -> HumanMessage:
    """The user's message as it was accepted, to run it again."""
    (message,) = messages_from_dict([run.input["message"]])
    if not isinstance(message, HumanMessage):
        raise TypeError(f"run {run.id} does not begin with a user's message")
    return message


def _active_in(conversation_id: str) -> Any:
    return and_(Run.conversation_id == conversation_id, Run.status == "active")


def _same(resend_key: str | None, now: datetime) -> Any:
    if resend_key is None:
        return false()
    return and_(Run.resend_key == resend_key, or_(Run.status == "active", Run.finished_at >= now - RESEND_WINDOW))
