"""Which pictures the turn means. After this node the turn's input is frozen."""

import time
from typing import Any

from memory.state import ChatState, Targets
from nodes import trace


async def resolve_targets(state: ChatState) -> dict[str, Any]:
    """Pictures of this message are the targets, all of them primary; a turn without any means none."""
    started = time.perf_counter()
    uploaded = [ref["asset_id"] for ref in state["input"]["image_refs"]]
    targets = Targets(asset_ids=uploaded, roles=dict.fromkeys(uploaded, "primary"), rule="uploaded" if uploaded else "none")
    entry = trace.entry(
        node="resolve_targets",
        started=started,
        decision=targets["rule"],
        detail={"asset_ids": uploaded},
        deadline_at=state["deadline_at"],
    )
    return {"targets": targets, "trace": [entry]}
