"""The events of one run in this process: numbered, bounded, heard by any number of listeners, stored behind them."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Collection, Sequence

from memory.runs import SEQ_PER_TRY, StoredEvent
from server.events import Event, Gap, Token

TOKEN_SECONDS = 0.1
"""Tokens that come faster than this make one event."""
EVENTS_MAX = 2000


class RunLog:
    """Of one event loop. The first token is told at once, later ones together; when there are too many, old ones become a gap."""

    def __init__(self, *, attempt: int, events_max: int = EVENTS_MAX, token_seconds: float = TOKEN_SECONDS) -> None:
        self.first = (attempt - 1) * SEQ_PER_TRY
        self.saving = asyncio.Lock()
        self._next = self.first
        self._max = events_max
        self._token_seconds = token_seconds
        self._events: list[StoredEvent] = []
        self._pending: dict[int, StoredEvent] = {}
        self._forgotten: set[int] = set()
        self._staged: list[StoredEvent] = []
        self._text = ""
        self._told_token = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._changed = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the run's last event has been told."""
        return bool(self._events) and self._events[-1].type == "end"

    def add(self, *events: Event) -> None:
        for event in events:
            if isinstance(event, Token):
                self._add_token(event.text)
            else:
                self._flush()
                self._tell(self._numbered(event))

    def stage(self, events: Sequence[Event]) -> list[StoredEvent]:
        """Number the last events without telling them; returns all that is not stored yet, these included."""
        self._flush()
        self._staged = [self._numbered(event) for event in events]
        pending, _ = self.take()
        return [*pending, *self._staged]

    def publish(self) -> None:
        """Tell what was staged."""
        for event in self._staged:
            self._tell(event, stored=True)
        self._staged = []

    def take(self) -> tuple[list[StoredEvent], Collection[int]]:
        """What is to be stored, and the numbers of what is to be removed first."""
        taken = sorted(self._pending.values()), self._forgotten
        self._pending, self._forgotten = {}, set()
        return taken

    def close(self) -> None:
        """Nothing more will come: listeners end."""
        self._flush()
        self._closed = True
        self._wake()

    async def listen(self, after: int) -> AsyncIterator[StoredEvent]:
        """Events numbered above `after`, until the log is closed."""
        while True:
            changed = self._changed
            start = bisect_right(self._events, after, key=lambda event: event.seq)
            batch = self._events[start:]
            for event in batch:
                after = event.seq
                yield event
            if not batch:
                if self._closed:
                    return
                await changed.wait()

    def _add_token(self, text: str) -> None:
        self._text += text
        loop = asyncio.get_running_loop()
        wait = self._told_token + self._token_seconds - loop.time()
        if wait <= 0:
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._text:
            text, self._text = self._text, ""
            self._told_token = asyncio.get_running_loop().time()
            self._tell(self._numbered(Token(text=text)))

    def _numbered(self, event: Event) -> StoredEvent:
        numbered = StoredEvent(self._next, event.type, event.model_dump(mode="json", exclude={"type"}, exclude_none=True))
        self._next += 1
        return numbered

    def _tell(self, event: StoredEvent, *, stored: bool = False) -> None:
        self._events.append(event)
        if not stored:
            self._pending[event.seq] = event
        if len(self._events) > self._max:
            self._trim()
        self._wake()

    def _trim(self) -> None:
        """Put a gap in the place of the text in the older half."""
        half = len(self._events) // 2
        older, newer = self._events[:half], self._events[half:]
        dropped = [event for event in older if event.type in ("token", "gap")]
        if not dropped:
            return
        first, last = dropped[0].data.get("first", dropped[0].seq), dropped[-1].seq
        gap = StoredEvent(last, "gap", Gap(first=first, last=last).model_dump(exclude={"type"}))
        self._events = [*sorted([*(event for event in older if event.type not in ("token", "gap")), gap]), *newer]
        self._forgotten |= {event.seq for event in dropped if self._pending.pop(event.seq, None) is None}
        self._pending[gap.seq] = gap

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
