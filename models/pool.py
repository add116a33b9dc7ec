"""A role's models in order: the first able one answers, the error table says what a failure means."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from models.errors import POLICIES, ErrorClass, classify, retry_after
from models.ledger import Ledger

logger = logging.getLogger(__name__)

Request = TypeVar("Request")
Reply = TypeVar("Reply")
EMBEDDED = "embedded"
"""The name of every role's member that needs no network."""
LONGEST_WAIT = 2.0
SHORTEST_TRY = 1.5
"""Seconds: with less left, a second call of the same model could not end well."""


@dataclass(frozen=True, slots=True)
class Member(Generic[Request, Reply]):
    """A model of a role. `call` raises what its client raises; `able` is asked before it and is no strike when false."""

    name: str
    call: Callable[[Request], Awaitable[Reply]]
    able: Callable[[Request], bool] = lambda _request: True
    started: Callable[[Request], bool] = lambda _request: False
    """Whether a failed call of this request had already shown the user something, so that no other model may answer."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call. `outcome`: `ok` or an error class."""

    member: str
    ms: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Answered(Generic[Reply]):
    """`degraded`: not the first able member answered. `attempts`: all calls of this request, in order."""

    reply: Reply
    member: str
    degraded: bool
    attempts: list[Attempt]


class PoolError(Exception):
    """No member answered; `error_class` is the last failure's."""

    def __init__(self, error_class: ErrorClass, attempts: list[Attempt]) -> None:
        super().__init__(error_class.value)
        self.error_class = error_class
        self.attempts = attempts


class RolePool(Generic[Request, Reply]):
    """Failover inside one role. The embedded member, where there is one, is the last of `members`."""

    def __init__(
        self,
        role: str,
        members: Sequence[Member[Request, Reply]],
        *,
        ledger: Ledger,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`clock` and `sleep` count in seconds."""
        self.role = role
        self.members = list(members)
        self._ledger = ledger
        self._clock = clock
        self._sleep = sleep

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    async def run(
        self, request: Request, *, owner: str, turn_id: str, seconds: float, asset_ids: Sequence[str] = (), prefer: str = ""
    ) -> Answered[Reply]:
        """The reply of the first member that gives one, within `seconds` in all. Raises PoolError when none does.

        `prefer` names the user's explicit choice, which goes first if it is able.
        """
        able = [member for member in self.members if member.able(request)]
        able.sort(key=lambda member: member.name != prefer)
        ends = self._clock() + seconds
        attempts: list[Attempt] = []
        last = ErrorClass.CAPABILITY
        try:
            for member in able:
                outcome = await self._try(member, request, attempts, ends, final=member is able[-1])
                if not isinstance(outcome, ErrorClass):
                    return Answered(outcome, member.name, degraded=member is not able[0], attempts=attempts)
                last = outcome
                if not POLICIES[last].next_model or member.started(request):
                    break
        finally:
            await self._note(attempts, owner=owner, turn_id=turn_id, asset_ids=asset_ids)
        raise PoolError(last, attempts)

    async def _try(
        self, member: Member[Request, Reply], request: Request, attempts: list[Attempt], ends: float, *, final: bool
    ) -> Reply | ErrorClass:
        """One member, once more where the table allows it. This is the only layer that retries. `final`: nobody comes after it."""
        again = False
        while True:
            started = self._clock()
            try:
                async with asyncio.timeout(_share(ends, started, final=final)):
                    reply = await member.call(request)
            except (Exception, asyncio.CancelledError) as error:  # every failure of a client has its row in the table
                failure = classify(error)
                attempts.append(Attempt(member.name, self._ms_since(started), failure.value))
                if isinstance(error, asyncio.CancelledError):
                    raise
                logger.warning("%s %s: %s", self.role, member.name, failure, exc_info=failure is ErrorClass.INTERNAL)
                wait = None if again or member.started(request) else _wait(failure, error, ends - self._clock())
            else:
                attempts.append(Attempt(member.name, self._ms_since(started), "ok"))
                return reply
            if wait is None:
                return failure
            await self._sleep(wait)
            again = True

    def _ms_since(self, started: float) -> float:
        return round((self._clock() - started) * 1000, 2)

    async def _note(self, attempts: Sequence[Attempt], *, owner: str, turn_id: str, asset_ids: Sequence[str]) -> None:
        for attempt in attempts:
            if attempt.member != EMBEDDED:
                await self._ledger.append(
                    owner=owner,
                    turn_id=turn_id,
                    role=self.role,
                    model=attempt.member,
                    ms=attempt.ms,
                    outcome=attempt.outcome,
                    asset_ids=asset_ids,
                )


def _share(ends: float, now: float, *, final: bool) -> float:
    """A member with others behind it leaves them a fifth of what is left."""
    left = max(0.05, ends - now)
    return left if final else left * 0.8


def _wait(failure: ErrorClass, error: Exception, left: float) -> float | None:
    """Seconds before the same model is called once more; None: not at all."""
    if not POLICIES[failure].same_again or left < SHORTEST_TRY:
        return None
    if failure is ErrorClass.RATE_LIMITED:
        asked = retry_after(error)
        return asked if asked is not None and asked <= min(LONGEST_WAIT, left / 2) else None
    return 0.0
