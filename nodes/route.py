"""Write down which path the turn takes; the conditional edge only reads it."""

import time
from typing import Any

from langgraph.runtime import Runtime

from memory.context import ChatContext
from memory.state import ChatState, FastAnalysisResult, Route
from nodes import trace
from nodes.routing import MULTI_STEP_SKILLS, should_enter_heavy_planning


async def route(state: ChatState, runtime: Runtime[ChatContext]) -> dict[str, Any]:
    started = time.perf_counter()
    is_heavy, reasons = should_enter_heavy_planning(
        state["input"], state["analysis"], mode=runtime.context.mode, skill_steps=runtime.context.skill_id in MULTI_STEP_SKILLS
    )
    verdict = Route(path="heavy" if is_heavy else "light", reasons=reasons)
    analysis = FastAnalysisResult(**{**state["analysis"], "complexity": "complex" if is_heavy else "simple"})
    skill_id = runtime.context.skill_id
    detail = {"reasons": reasons, **({"skill_id": skill_id} if skill_id else {})}
    entry = trace.entry(node="route", started=started, decision=verdict["path"], detail=detail, deadline_at=state["deadline_at"])
    return {"route": verdict, "analysis": analysis, "trace": [entry]}


def path_of(state: ChatState) -> str:
    return state["route"]["path"]
