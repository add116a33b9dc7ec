"""Bring what earlier turns left behind into this one."""

import time
from typing import Any

from memory.state import ChatState, WorkingMemory
from nodes import trace


def empty_working_memory() -> WorkingMemory:
    return WorkingMemory(
        current_task="", focus_asset_ids=[], last_referenced_asset_ids=[], last_generated_asset_ids=[], last_intent=None, updated_at=""
    )


async def recall(state: ChatState) -> dict[str, Any]:
    """Fill in working memory for a thread that has none, or that an older version wrote."""
    started = time.perf_counter()
    working = WorkingMemory(**{**empty_working_memory(), **state.get("working_memory", {})})
    entry = trace.entry(
        node="recall",
        started=started,
        decision=f"{len(state.get('messages', [])) - 1} earlier messages",
        detail={"focus": working["focus_asset_ids"], "last_intent": working["last_intent"]},
        deadline_at=state["deadline_at"],
    )
    return {"working_memory": working, "trace": [entry]}
