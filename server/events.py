"""What a run tells its listeners: one typed union, and how a graph's stream becomes it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, TypeAdapter

from models.errors import ErrorType
from server.schemas.chat import ChatMessage, TraceStep


class RunStarted(BaseModel):
    """The first event: what to ask for, to cancel, or to resume."""

    type: Literal["run"] = "run"
    run_id: str
    conversation_id: str
    message_id: str = Field(description="The user's message.")
    attempt: int = Field(description="1, or more when the run goes on after a restart of the server.")


class StepDone(TraceStep):
    """A node of the graph has run: why the turn goes where it goes."""

    type: Literal["step"] = "step"


class Token(BaseModel):
    """Some more of the answer's text."""

    type: Literal["token"] = "token"
    text: str


class ToolUse(BaseModel):
    """The agent calls a tool, then has its result."""

    type: Literal["tool"] = "tool"
    call_id: str
    name: str
    status: Literal["called", "done", "error"]
    args: dict[str, Any] | None = Field(default=None, description="Of the call.")


class AssetMade(BaseModel):
    """A picture, video or model that the turn made."""

    type: Literal["asset"] = "asset"
    asset_id: str


class Interrupted(BaseModel):
    """The turn waits for an answer of the user."""

    type: Literal["interrupt"] = "interrupt"
    value: dict[str, Any]


class Retried(BaseModel):
    """The tokens so far are void: another round, model or try begins the answer anew."""

    type: Literal["retry"] = "retry"
    reason: Literal["another_round", "restarted"]


class Gap(BaseModel):
    """Earlier events were trimmed; the `message` event holds the whole answer."""

    type: Literal["gap"] = "gap"
    first: int
    last: int


class Said(BaseModel):
    """The reply, as `send` returns it."""

    type: Literal["message"] = "message"
    message: ChatMessage


class Failed(BaseModel):
    """The turn failed, wholly or in part; `message` is for the user."""

    type: Literal["error"] = "error"
    error_type: ErrorType
    message: str


class Ended(BaseModel):
    """The last event of every stream."""

    type: Literal["end"] = "end"
    status: Literal["done", "failed", "cancelled", "interrupted", "restarting"]


Event = Annotated[
    RunStarted | StepDone | Token | ToolUse | AssetMade | Interrupted | Retried | Gap | Said | Failed | Ended, Field(discriminator="type")
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class Translator:
    """Reads the parts of one run's stream (version v2, modes updates, messages and custom, with subgraphs)."""

    def __init__(self) -> None:
        self._speaker: str | None = None
        self._inside: set[str] = set()

    def events(self, part: Mapping[str, Any]) -> Iterator[Event]:
        if part["type"] == "custom":
            yield EVENT.validate_python(part["data"])
        elif part["type"] == "messages":
            yield from self._token(*part["data"])
        elif part["type"] == "updates":
            for node, update in part["data"].items():
                yield from self._update(tuple(part["ns"]), node, update)

    def _token(self, chunk: Any, metadata: Mapping[str, Any]) -> Iterator[Event]:
        if metadata.get("langgraph_node") != "agent" or not chunk.text:
            return
        if self._speaker not in (None, chunk.id):
            yield Retried(reason="another_round")
        self._speaker = chunk.id
        yield Token(text=str(chunk.text))

    def _update(self, namespace: tuple[str, ...], node: str, update: Any) -> Iterator[Event]:
        if node == "__interrupt__":
            yield from (Interrupted(value=interrupt.value) for interrupt in update)
            return
        if namespace:
            self._inside.add(namespace[0].partition(":")[0])
        for written in update if isinstance(update, list) else [update]:
            if not isinstance(written, Mapping):
                continue
            if namespace or node not in self._inside:  # what a subgraph did was told when it did it
                yield from (StepDone(**entry) for entry in _plain(written.get("trace", ())))
            if not namespace:
                yield from (AssetMade(asset_id=made) for result in _plain(written.get("results", ())) for made in result["asset_ids"])


def _plain(written: Any) -> Any:
    return written.value if isinstance(written, Overwrite) else written
