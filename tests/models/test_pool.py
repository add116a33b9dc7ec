"""Failover inside one role: who is called, how often, how long, and what is written down of it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import POLICIES, ErrorClass, ModelError
from models.pool import EMBEDDED, Answered, Member, PoolError, RolePool
from tests.models.ledger import Ledger

Outcome = str | Exception


class Clock:
    """Time that passes only by waiting for it."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@dataclass
class Script:
    """A client that plays its outcomes in order: a reply, or an exception."""

    outcomes: list[Outcome]
    calls: list[str] = field(default_factory=list)

    async def __call__(self, request: str) -> str:
        self.calls.append(request)
        outcome = self.outcomes[len(self.calls) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def failed(*classes: str) -> list[Outcome]:
    return [ModelError(ErrorClass(error_class)) for error_class in classes]


def limited(seconds: float | None) -> Exception:
    headers = {} if seconds is None else {"retry-after": str(seconds)}
    return openai.RateLimitError(
        "slow down", response=httpx.Response(429, headers=headers, request=httpx.Request("POST", "http://provider/v1")), body=None
    )


def member(name: str, *outcomes: Outcome, **options: Any) -> Member[str, str]:
    return Member(name, Script(list(outcomes)), **options)


async def hang(_request: str) -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def run(
    *members: Member[str, str], seconds: float = 20, prefer: str = "", ledger: Ledger | None = None, clock: Clock | None = None
) -> Answered[str]:
    timing = {"clock": clock, "sleep": clock.sleep} if clock else {}
    pool = RolePool("chat", members, ledger=ledger or Ledger(), **timing)
    return await pool.run("question", owner="ann", turn_id="t1", seconds=seconds, asset_ids=["a1", "a2"], prefer=prefer)


def called(answered: Answered[str] | PoolError) -> list[tuple[str, str]]:
    return [(attempt.member, attempt.outcome) for attempt in answered.attempts]


async def test_the_first_member_answers():
    answered = await run(member("a", "好"), member("b"))
    assert (answered.reply, answered.member, answered.degraded, called(answered)) == ("好", "a", False, [("a", "ok")])


async def test_the_next_member_answers_degraded():
    answered = await run(member("a", *failed("capacity")), member("b", *failed("auth_quota")), member(EMBEDDED, "内置"))
    assert (answered.reply, answered.member, answered.degraded) == ("内置", EMBEDDED, True)
    assert called(answered) == [("a", "capacity"), ("b", "auth_quota"), (EMBEDDED, "ok")]


async def test_the_users_choice_goes_first_and_the_others_keep_their_order():
    answered = await run(member("a", *failed("capacity")), member("b", "b"), member("c", *failed("capacity")), prefer="c")
    assert (answered.member, answered.degraded, called(answered)) == ("b", True, [("c", "capacity"), ("a", "capacity"), ("b", "ok")])


@pytest.mark.parametrize("prefer", ["", "b", "unknown"])
async def test_who_is_not_able_is_passed_over_without_a_strike(prefer: str):
    ledger = Ledger()
    answered = await run(member("a", "a"), member("b", able=lambda _: False), ledger=ledger, prefer=prefer)
    assert (answered.member, answered.degraded, len(ledger.rows)) == ("a", False, 1)


async def test_nobody_able_is_a_lack_of_capability():
    with pytest.raises(PoolError) as caught:
        await run(member("a", able=lambda _: False))
    assert (caught.value.error_class, caught.value.attempts) == (ErrorClass.CAPABILITY, [])


async def test_a_member_is_asked_the_same_again_exactly_once():
    with pytest.raises(PoolError) as caught:
        await run(member("a", *failed("transient", "transient", "transient")))
    assert called(caught.value) == [("a", "transient")] * 2


async def test_after_the_second_try_the_second_failure_decides():
    with pytest.raises(PoolError) as caught:
        await run(member("a", *failed("transient", "content_policy")), member("b", "never"))
    assert called(caught.value) == [("a", "transient"), ("a", "content_policy")]


async def test_a_refusal_of_the_content_is_not_taken_elsewhere():
    with pytest.raises(PoolError) as caught:
        await run(member("a", *failed("content_policy")), member("b", "never"))
    assert (caught.value.error_class, called(caught.value)) == ("content_policy", [("a", "content_policy")])


@pytest.mark.parametrize(
    ("asked", "seconds", "waits"),
    [
        (0, 20, [0]),
        (2, 20, [2]),
        (2.1, 20, []),
        (None, 20, []),
        (1.4, 3, [1.4]),
        (1.6, 3, []),  # more than half of what is left
        (0, 1.4, []),  # too little is left for a second call
    ],
)
async def test_a_rate_limit_is_waited_for_only_if_it_is_short(asked: float | None, seconds: float, waits: list[float]):
    clock = Clock()
    answered = await run(member("a", limited(asked), "好"), member("b", "其他"), seconds=seconds, clock=clock)
    assert clock.waits == waits
    assert (answered.reply, answered.degraded) == (("好", False) if waits else ("其他", True))


@pytest.mark.parametrize(("seconds", "waited", "tries"), [(3, 1.5, 2), (2.75, 1.375, 1)])
async def test_the_time_waited_is_gone_for_those_behind(seconds: float, waited: float, tries: int):
    clock = Clock()
    with pytest.raises(PoolError) as caught:
        await run(
            member("a", limited(waited), *failed("capacity")),
            member("b", *failed("transient", "transient")),
            seconds=seconds,
            clock=clock,
        )
    assert called(caught.value) == [("a", "rate_limited"), ("a", "capacity"), *[("b", "transient")] * tries]
    assert [attempt.ms for attempt in caught.value.attempts] == [0] * (2 + tries)


async def test_after_the_first_token_nobody_starts_again():
    shown: list[str] = []

    async def cut(request: str) -> str:
        shown.append(request)
        raise ModelError(ErrorClass.TRANSIENT)

    with pytest.raises(PoolError) as caught:
        await run(Member("a", cut, started=lambda _: bool(shown)), member("b", "never"))
    assert called(caught.value) == [("a", "transient")]


async def test_the_last_failure_is_the_pools():
    with pytest.raises(PoolError) as caught:
        await run(member("a", *failed("auth_quota")), member("b", *failed("model_not_found")))
    assert caught.value.error_class is ErrorClass.MODEL_NOT_FOUND


async def test_remote_calls_are_written_down_with_the_same_pictures():
    ledger = Ledger()
    await run(member("a", *failed("transient", "capacity")), member(EMBEDDED, "内置"), ledger=ledger)
    assert ledger.outcomes == [("a", "transient"), ("a", "capacity")]
    for row in ledger.rows:
        assert row.pop("ms") >= 0
        assert row == {
            "owner": "ann", "turn_id": "t1", "role": "chat", "model": "a", "outcome": row["outcome"], "asset_ids": ["a1", "a2"]
        }  # fmt: skip


async def test_what_a_cancelled_turn_asked_is_written_down_and_nobody_else_is_asked():
    ledger, asked = Ledger(), asyncio.Event()
    other = Script(["never"])

    async def slow(request: str) -> str:
        asked.set()
        return await hang(request)

    turn = asyncio.create_task(run(member("a", *failed("capacity")), Member("b", slow), Member("c", other), ledger=ledger))
    async with asyncio.timeout(10):
        await asked.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ledger.outcomes == [("a", "capacity"), ("b", "cancelled")]
    assert other.calls == []


async def test_a_turn_cancelled_between_two_tries_ends_there():
    ledger = Ledger()

    async def stopped(_seconds: float) -> None:
        raise asyncio.CancelledError

    script = Script(failed("transient", "transient"))
    pool = RolePool("chat", [Member("a", script)], ledger=ledger, sleep=stopped)
    with pytest.raises(asyncio.CancelledError):
        await pool.run("question", owner="ann", turn_id="t1", seconds=20)
    assert (len(script.calls), len(ledger.rows)) == (1, 1)


async def test_members_that_hang_cannot_outlast_the_turn():
    began = time.monotonic()
    with pytest.raises(PoolError) as caught:
        await run(*(Member(name, hang) for name in "abc"), seconds=0.3)
    assert time.monotonic() - began < 0.3 + 3 * 0.05 + 0.5  # 50 ms for each, and a busy machine
    assert called(caught.value) == [(name, "timeout_ambiguous") for name in "abc"]


async def test_the_one_who_comes_last_in_fact_may_take_all_the_time():
    """Being first by the user's choice leaves time for the others; nobody able behind one leaves none."""
    answered = await run(member("a", "好"), Member("b", hang), seconds=1, prefer="b")
    assert answered.member == "a"
    assert answered.attempts[0].ms < 990
    with pytest.raises(PoolError) as caught:
        await run(Member("a", hang), member("b", able=lambda _: False), seconds=1)
    assert caught.value.attempts[0].ms > 990


OUTCOMES = ["ok", *(error_class for error_class in ErrorClass if error_class is not ErrorClass.CANCELLED)]


@dataclass(frozen=True)
class Played:
    """What a member would do: at its first call, at its second, and whether it is able and has shown something when it fails."""

    first: str
    second: str
    able: bool
    shows: bool


def by_the_table(played: Sequence[Played], chosen: int) -> tuple[list[tuple[str, str]], str]:
    """The calls and the end ("ok" or a class), told from the table without a pool."""
    order = sorted((index for index, one in enumerate(played) if one.able), key=lambda index: index != chosen)
    calls: list[tuple[str, str]] = []
    end = "capability"
    for index in order:
        one = played[index]
        outcomes = [one.first]
        asked_to_wait = one.first == "rate_limited"  # without a Retry-After
        if one.first != "ok" and POLICIES[ErrorClass(one.first)].same_again and not one.shows and not asked_to_wait:
            outcomes.append(one.second)
        calls += [(str(index), outcome) for outcome in outcomes]
        end = outcomes[-1]
        if end == "ok" or one.shows or not POLICIES[ErrorClass(end)].next_model:
            break
    return calls, end


PLAYED = st.builds(
    Played, st.sampled_from(OUTCOMES), st.sampled_from(OUTCOMES), able=st.sampled_from([True, True, False]), shows=st.booleans()
)


@given(played=st.lists(PLAYED, max_size=4), chosen=st.integers(0, 4))
def test_any_sequence_of_failures_ends_as_the_table_says(played: list[Played], chosen: int):
    def made(index: int, one: Played) -> Member[str, str]:
        outcomes: list[Outcome] = [str(index) if name == "ok" else failed(name)[0] for name in (one.first, one.second)]
        return member(str(index), *outcomes, able=lambda _: one.able, started=lambda _: one.shows)

    async def outcome() -> tuple[list[tuple[str, str]], str]:
        try:
            answered = await run(*(made(index, one) for index, one in enumerate(played)), prefer=str(chosen))
        except PoolError as error:
            return called(error), error.error_class
        assert answered.reply == answered.member == answered.attempts[-1].member
        assert answered.degraded == (answered.attempts[0].member != answered.member)
        return called(answered), "ok"

    assert asyncio.run(outcome()) == by_the_table(played, chosen)
