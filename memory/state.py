"""The graph's state: JSON values only, so that every checkpoint is small, strict msgpack and readable in Studio.

Per-turn keys are reset by `resolve_media`; `working_memory` and the last messages live on.
"""

import operator
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

STATE_VERSION = 1

Executor = Literal["chat", "vision", "image_edit", "image_gen", "video_gen", "model_3d"]
Intent = Literal["image_edit", "image_gen", "video_gen", "vision", "chat"]
SubIntent = Literal[
    "remove_background", "replace_background", "enhance", "inpaint", "style_transfer", "color_adjust", "extend", "resize", "redo"
]
Mode = Literal["auto", "video", "3d", "batch", "variations"]
Role = Literal["primary", "reference", "style_reference", "mask"]


class ResolvedMediaRef(TypedDict):
    """One picture, video or file of the turn, as stored. `url` is `asset://id` or the remote address."""

    asset_id: str
    kind: Literal["image", "video", "file"]
    source: Literal["current_message", "history", "assistant_history", "markdown"]
    url: str
    transport: Literal["remote", "inline"]
    mime_type: str
    width: int | None
    height: int | None
    file_name: str | None


class MediaProblem(TypedDict):
    """A part that could not be used: `code` is one of `memory.media.MediaErrorCode`."""

    code: str
    detail: str


class ResolvedChatInput(TypedDict):
    """What this turn is about, made once by `resolve_media` and completed by `resolve_targets`.

    There is no `has_image`: it is `len(image_refs) > 0`, see `has_image()`.
    """

    text: str
    image_refs: list[ResolvedMediaRef]
    video_refs: list[ResolvedMediaRef]
    file_refs: list[ResolvedMediaRef]
    from_history: bool
    problems: list[MediaProblem]


def has_image(resolved: ResolvedChatInput) -> bool:
    return len(resolved["image_refs"]) > 0


class RouteHints(TypedDict):
    prefer_vision_model: bool
    prefer_edit_model: bool
    prefer_video_planner: bool


class FastAnalysisResult(TypedDict):
    """The fast analyzer's verdict. Never any text for the user."""

    intent: Intent
    sub_intent: SubIntent | None
    complexity: Literal["simple", "complex"]
    needs_clarification: bool
    clarification_reason: Literal["no_image", "which_image", "missing_detail"] | None
    route_hints: RouteHints


class Targets(TypedDict):
    """The pictures the turn means, in order, each with its role, and the rule that settled them."""

    asset_ids: list[str]
    roles: dict[str, Role]
    rule: str


class Route(TypedDict):
    path: Literal["light", "heavy"]
    reasons: list[str]


class Step(TypedDict):
    """One executor call of the turn's plan. Light chains and heavy DAGs are both lists of these (at most 24)."""

    id: str
    executor: Executor
    sub_intent: SubIntent | None
    params: dict[str, Any]
    target_asset_ids: list[str]
    depends_on: list[str]


class StepResult(TypedDict):
    """What an executor made of a step. `text` is for the user; `citations` are photo ids named in it."""

    step_id: str
    status: Literal["done", "failed", "skipped"]
    text: str
    asset_ids: list[str]
    citations: list[int]
    degraded: bool
    error_type: str | None
    tool_calls: NotRequired[list[dict[str, Any]]]


class TraceEntry(TypedDict):
    """Why the turn went where it went: one entry per node."""

    node: str
    ms: float
    decision: str
    by: str
    detail: dict[str, Any]
    budget_left: float | None


class WorkingMemory(TypedDict):
    """Lives across turns; updated once a turn by `remember`."""

    current_task: str
    focus_asset_ids: list[str]
    last_referenced_asset_ids: list[str]
    last_generated_asset_ids: list[str]
    last_intent: str | None
    updated_at: str


def merge_results(old: list[StepResult], new: list[StepResult]) -> list[StepResult]:
    """One result per step: a later one replaces an earlier one (a replayed step stays single)."""
    merged = {result["step_id"]: result for result in old}
    merged.update({result["step_id"]: result for result in new})
    return list(merged.values())


class ChatInput(TypedDict):
    """What a caller hands in: the new message(s)."""

    messages: Annotated[list[AnyMessage], add_messages]


class ChatState(TypedDict, total=False):
    state_version: int
    messages: Annotated[list[AnyMessage], add_messages]
    turn_id: str
    deadline_at: float
    input: ResolvedChatInput
    analysis: FastAnalysisResult
    targets: Targets
    route: Route
    plan: list[Step]
    results: Annotated[list[StepResult], merge_results]
    trace: Annotated[list[TraceEntry], operator.add]
    working_memory: WorkingMemory


class ExecutorState(TypedDict, total=False):
    """What an executor is sent: its step and the turn it belongs to."""

    step: Step
    input: ResolvedChatInput
    messages: list[AnyMessage]
    turn_id: str
    results: Annotated[list[StepResult], merge_results]
    trace: Annotated[list[TraceEntry], operator.add]


class AgentState(ExecutorState, total=False):
    """The chat executor's loop. `scratch` holds this turn's tool calls and their results."""

    scratch: Annotated[list[AnyMessage], add_messages]
    rounds: int
    degraded: bool


class ExecutorOutput(TypedDict):
    """All that leaves an executor."""

    results: Annotated[list[StepResult], merge_results]
    trace: Annotated[list[TraceEntry], operator.add]


class ToolCallState(TypedDict):
    """Identical calls of one round, answered by one execution, and what was already said this turn."""

    calls: list[dict[str, Any]]
    scratch: list[AnyMessage]
