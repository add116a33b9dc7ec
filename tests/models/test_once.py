import asyncio

import pytest

from models.once import Once


async def test_callers_at_the_same_time_share_one_making():
    made: list[object] = []
    go = asyncio.Event()

    async def make() -> object:
        made.append(object())
        await go.wait()
        return made[-1]

    once = Once(make)
    callers = [asyncio.create_task(once()) for _ in range(3)]
    await asyncio.sleep(0)
    go.set()
    assert set(await asyncio.gather(*callers)) == {made[0]}
    assert (await once(), len(made)) == (made[0], 1)


async def test_a_failure_is_raised_and_not_kept():
    outcomes: list[Exception | str] = [ValueError("not yet"), "made"]

    async def make() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    once = Once(make)
    with pytest.raises(ValueError):
        await once()
    assert await once() == "made"


async def test_a_caller_that_is_cancelled_leaves_the_making_to_the_next():
    calls: list[int] = []

    async def make() -> str:
        calls.append(1)
        if len(calls) == 1:
            await asyncio.Event().wait()
        return "made"

    once = Once(make)
    first, second = asyncio.create_task(once()), asyncio.create_task(once())
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "made"
    assert first.cancelled()
