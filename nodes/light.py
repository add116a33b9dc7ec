"""The light path: a chain of steps by rule, no planning model."""

import time
from typing import Any

from memory.state import ChatState, Step
from nodes import trace
from nodes.routing import executor_for


def chain(state: ChatState) -> list[Step]:
    """The one step that the analysis asks for, on the pictures that the turn means."""
    analysis = state["analysis"]
    return [
        Step(
            id="s1",
            executor=executor_for(analysis["intent"], state["route"]["reasons"]),
            sub_intent=analysis["sub_intent"],
            params={},
            target_asset_ids=state["targets"]["asset_ids"],
            depends_on=[],
        )
    ]


async def light(state: ChatState) -> dict[str, Any]:
    started = time.perf_counter()
    plan = chain(state)
    decision = " → ".join(step["executor"] for step in plan)
    return {"plan": plan, "trace": [trace.entry(node="light", started=started, decision=decision, deadline_at=state["deadline_at"])]}
