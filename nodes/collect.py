"""The join after a fan-out."""

import time
from typing import Any

from memory.state import ChatState
from nodes import trace


async def collect(state: ChatState) -> dict[str, Any]:
    started = time.perf_counter()
    outcome = ", ".join(f"{result['step_id']}:{result['status']}" for result in state["results"])
    return {"trace": [trace.entry(node="collect", started=started, decision=outcome)]}
