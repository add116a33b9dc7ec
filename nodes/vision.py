"""The vision executor: answers about the pictures of the turn."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

from langgraph.runtime import Runtime

from memory.context import ChatContext
from memory.scope import Scope
from memory.state import ExecutorState, StepResult
from models.vision import VisionReply
from nodes import trace


class VisionPool(Protocol):
    """The vision role. Raises nothing: what went wrong is in the reply, worded for the user."""

    async def look(self, question: str, *, asset_ids: Sequence[str], scope: Scope, turn_id: str, seconds: float) -> VisionReply: ...


async def vision(state: ExecutorState, runtime: Runtime[ChatContext], *, pool: VisionPool, seconds: float) -> dict[str, Any]:
    started = time.perf_counter()
    step = state["step"]
    asset_ids = step["target_asset_ids"]
    reply = await pool.look(
        state["input"]["text"], asset_ids=asset_ids, scope=runtime.context.scope, turn_id=state["turn_id"], seconds=seconds
    )
    result = StepResult(
        step_id=step["id"],
        status="failed" if reply.error_type else "done",
        text=reply.text,
        asset_ids=[],
        citations=[],
        degraded=reply.degraded,
        error_type=reply.error_type,
    )
    detail = {"error_type": reply.error_type, "attempts": [asdict(attempt) for attempt in reply.attempts]}
    entry = trace.entry(node="vision", started=started, decision=f"{len(asset_ids)} pictures", by=reply.member, detail=detail)
    return {"results": [result], "trace": [entry]}
