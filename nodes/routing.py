"""The pure functions behind the graph's decisions."""

from collections.abc import Collection

from memory.state import Executor, FastAnalysisResult, Intent, ResolvedChatInput
from models.embedded.classifier.classifier import normalise
from models.embedded.classifier.rules import load_rules

MULTI_STEP_SKILLS = frozenset({"storyboard-video", "batch-edit"})
THREE_D = "3d"

_HEAVY_MODES = frozenset({"video", THREE_D, "batch", "variations"})
_MAKES: frozenset[Intent] = frozenset({"image_edit", "image_gen", "video_gen"})
# A question about a picture may name a grid, a storyboard or parts "each"; only its own number of pictures makes it heavy.
_COUNTS_FOR: dict[str, frozenset[Intent]] = {
    "batch": _MAKES,
    "each": _MAKES | {"vision"},
    "all": _MAKES,
    "separately": _MAKES,
    "storyboard": frozenset({"image_gen", "video_gen"}),
    "nine_grid": _MAKES,
    "continue": _MAKES | {"vision"},
    "compare": _MAKES | {"vision"},
    "several_images": _MAKES | {"vision"},
    "series": frozenset({"image_gen", "video_gen"}),
}


def should_enter_heavy_planning(
    resolved_input: ResolvedChatInput, analysis: FastAnalysisResult, *, mode: str = "auto", skill_steps: bool = False
) -> tuple[bool, list[str]]:
    """Whether the turn needs planning, and why (spec §1.3). Reasons are codes, in a fixed order; none means light.

    `skill_steps`: the turn's skill needs several steps.
    """
    reasons = ["several_images"] if len(resolved_input["image_refs"]) >= 2 else []
    if mode in _HEAVY_MODES:
        reasons.append(mode)
    if skill_steps:
        reasons.append("skill_steps")
    reasons += planning_words(resolved_input["text"], analysis["intent"])
    return bool(reasons), list(dict.fromkeys(reasons))


def planning_words(text: str, intent: Intent) -> list[str]:
    """The reasons that lie in the words. Talk is never planned for its words: "分别是几点" asks for no pictures."""
    if intent == "chat":
        return []
    normalised, book = normalise(text), load_rules()
    reasons = [name for name, matches in book.plan.items() if intent in _COUNTS_FOR[name] and matches(normalised)]
    return reasons + [THREE_D] * (intent == "image_gen" and book.found("three_d", normalised))


def executor_for(intent: Intent, reasons: Collection[str] = ()) -> Executor:
    """Executors are named like intents; only 3D is an executor without an intent of its own."""
    return "model_3d" if intent == "image_gen" and THREE_D in reasons else intent
