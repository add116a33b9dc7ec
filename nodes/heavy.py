"""The heavy path. Without a planner it takes the conservative chain and says so."""

import time
from typing import Any

from memory.state import ChatState
from nodes import trace
from nodes.light import chain


async def heavy(state: ChatState) -> dict[str, Any]:
    started = time.perf_counter()
    plan = chain(state)
    entry = trace.entry(
        node="heavy",
        started=started,
        decision="conservative chain: " + " → ".join(step["executor"] for step in plan),
        by="degrade",
        detail={"reasons": state["route"]["reasons"], "degraded": "no planner"},
        deadline_at=state["deadline_at"],
    )
    return {"plan": plan, "trace": [entry]}
