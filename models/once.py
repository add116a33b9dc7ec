"""Opening something slow once, at its first use."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """The one result of `make`, for every caller of one event loop. A failure is raised and not kept."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = asyncio.Lock()

    async def __call__(self) -> T:
        if not self._made:
            async with self._lock:
                if not self._made:
                    self._made.append(await self._make())
        return self._made[0]
