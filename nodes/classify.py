"""The fast analyzer: what kind of turn this is. Always the schema, never any text for the user."""

import asyncio
import time
from typing import Any, Protocol, cast, get_args

from langgraph.runtime import Runtime

from memory.context import ChatContext
from memory.state import ChatState, FastAnalysisResult, Mode
from models.embedded.classifier.classifier import Facts, Verdict, by_facts
from nodes import trace
from nodes.budget import BudgetPolicy

EMBEDDED_SECONDS = 1.0
"""The embedded member is what a stage without budget falls back to, so it always gets this long; it needs milliseconds."""


class Classifier(Protocol):
    def classify(self, text: str, facts: Facts) -> Verdict: ...


def facts_of(state: ChatState, context: ChatContext) -> Facts:
    """What is known besides the words: pictures of this message, of earlier turns, and whether one of those was made here."""
    working = state.get("working_memory")
    earlier: set[str] = set()
    if working:
        earlier.update(working["focus_asset_ids"], working["last_referenced_asset_ids"], working["last_generated_asset_ids"])
    return Facts(
        n_images=len(state["input"]["image_refs"]),
        n_history=len(earlier - {ref["asset_id"] for ref in state["input"]["image_refs"]}),
        has_last_result=bool(working and working["last_generated_asset_ids"]),
        mode=cast(Mode, context.mode) if context.mode in get_args(Mode) else "auto",
        skill=context.skill_id,
    )


async def classify(state: ChatState, runtime: Runtime[ChatContext], *, classifier: Classifier, budget: BudgetPolicy) -> dict[str, Any]:
    """Within the analyzer's share of the budget; out of time, the facts alone decide."""
    started = time.perf_counter()
    facts = facts_of(state, runtime.context)
    seconds = max(EMBEDDED_SECONDS, budget.stage("analyzer", state["deadline_at"]))
    try:
        async with asyncio.timeout(seconds):
            verdict = await asyncio.to_thread(classifier.classify, state["input"]["text"], facts)
    except TimeoutError:
        verdict = by_facts(facts)
    entry = trace.entry(
        node="classify",
        started=started,
        decision=_decision(verdict.result),
        by=verdict.by,
        detail={"confidence": round(verdict.confidence, 2), "exact_command": verdict.exact_command},
        deadline_at=state["deadline_at"],
    )
    return {"analysis": verdict.result, "trace": [entry]}


def _decision(result: FastAnalysisResult) -> str:
    parts = [result["intent"], result["sub_intent"], result["clarification_reason"]]
    return " ".join(part for part in parts if part)
