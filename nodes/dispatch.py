"""One loop runs every plan: ready steps fan out, dependants of a failed step are skipped, finished results stay."""

import time
from collections.abc import Collection
from typing import Any

from langgraph.types import Send

from memory.state import ChatState, Step, StepResult
from nodes import trace

NO_EXECUTOR = "no_executor"
DEPENDENCY_FAILED = "dependency_failed"


def unfinished(step: Step, *, status: str, reason: str) -> StepResult:
    """The result of a step that no executor ran; `text` holds the reason code."""
    return StepResult(
        step_id=step["id"],
        status="skipped" if status == "skipped" else "failed",
        text=reason,
        asset_ids=[],
        citations=[],
        degraded=False,
        error_type=None,
    )


def settle(plan: list[Step], results: list[StepResult], *, executors: Collection[str]) -> list[StepResult]:
    """Results for the steps that can never run: their executor is absent, or something they depend on did not succeed."""
    known = {result["step_id"]: result for result in results}
    settled: list[StepResult] = []
    for step in plan:
        if step["id"] in known:
            continue
        failed = [known[d] for d in step["depends_on"] if d in known and known[d]["status"] != "done"]
        if failed:
            result = unfinished(step, status="skipped", reason=DEPENDENCY_FAILED)
        elif step["executor"] not in executors:
            result = unfinished(step, status="failed", reason=NO_EXECUTOR)
        else:
            continue
        known[step["id"]] = result
        settled.append(result)
    return settled


def ready(plan: list[Step], results: list[StepResult]) -> list[Step]:
    """Steps without a result whose dependencies are all done, in plan order."""
    done = {result["step_id"] for result in results if result["status"] == "done"}
    known = {result["step_id"] for result in results}
    return [step for step in plan if step["id"] not in known and done.issuperset(step["depends_on"])]


async def dispatch(state: ChatState, *, executors: Collection[str]) -> dict[str, Any]:
    started = time.perf_counter()
    results = state.get("results", [])
    settled = settle(state["plan"], results, executors=executors)
    steps = ready(state["plan"], [*results, *settled])
    decision = ", ".join(f"{step['id']}:{step['executor']}" for step in steps) or "all steps settled"
    detail = {result["step_id"]: result["text"] for result in settled}
    return {"results": settled, "trace": [trace.entry(node="dispatch", started=started, decision=decision, detail=detail)]}


def to_executors(state: ChatState) -> list[Send] | str:
    """Send each ready step to its executor with what executors may see; `reply` when none is left."""
    steps = ready(state["plan"], state["results"])
    shared = {"input": state["input"], "messages": state["messages"], "turn_id": state["turn_id"]}
    return [Send(step["executor"], {**shared, "step": step}) for step in steps] or "reply"
