"""One trace entry per node answers "why did it go there?"."""

import time
from typing import Any

from memory.state import TraceEntry


def entry(
    *,
    node: str,
    started: float,
    decision: str,
    by: str = "rule",
    detail: dict[str, Any] | None = None,
    deadline_at: float | None = None,
) -> TraceEntry:
    """`started` is a `time.perf_counter()` reading; `deadline_at` the turn's wall-clock deadline, if the node draws on it."""
    return TraceEntry(
        node=node,
        ms=round((time.perf_counter() - started) * 1000, 2),
        decision=decision,
        by=by,
        detail=detail or {},
        budget_left=None if deadline_at is None else round(max(0.0, deadline_at - time.time()), 2),
    )
