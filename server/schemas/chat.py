"""Chat: what is asked, what is answered, conversations and runs."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from memory.state import Mode
from models.errors import ErrorType
from server.schemas.common import DeviceId, Time, Zone

MESSAGE_LIMIT = 32_768
ConversationId = Annotated[
    Annotated[str, Field(pattern="^[a-f0-9]{0,64}$", examples=["0011223344556677"])] | None, AfterValidator(lambda value: value or None)
]
"""Empty is absent."""


class SendRequest(BaseModel):
    """A message. Without a conversation a new one begins; without a device all of the owner's screenshots are searched."""

    message: str = Field(max_length=MESSAGE_LIMIT, examples=["我的取件码是多少？"])
    conversation_id: ConversationId = None
    device_id: DeviceId = None
    skill_id: str | None = Field(default=None, max_length=64, examples=["summarize"])
    tz: Zone = None
    parts: list[dict[str, Any]] = Field(
        default=[],
        max_length=32,
        description="Pictures and files beside the text, in the shapes of OpenAI, Anthropic or Gemini, as `asset://id`, URL or base64.",
        examples=[[{"type": "image_url", "image_url": {"url": "https://example.org/cat.jpg"}}]],
    )
    selected_asset_ids: list[str] = Field(default=[], max_length=32)
    canvas_id: str | None = Field(default=None, max_length=64)
    mode: Mode = "auto"
    model: str | None = Field(default=None, max_length=128, description="A model that is to answer, if it can.")
    n: int = Field(default=1, ge=1, le=8, description="How many variations.")


class ToolCall(BaseModel):
    name: str = Field(examples=["search_knowledge"])
    args: dict[str, Any] = Field(examples=[{"query": "取件码"}])


class ChatMessage(BaseModel):
    """A reply. `citations` are the photo ids of its `[截图#id]`, in order."""

    id: str | None = None
    role: Literal["assistant"] = "assistant"
    content: str = Field(examples=["取件码是 6-2-3045 [截图#7]。"])
    tool_calls: list[ToolCall] = []
    citations: list[int] = Field(default=[], examples=[[7]])
    assets: list[str] = []
    error_type: ErrorType | None = None
    degraded: bool | None = None
    interrupt: dict[str, Any] | None = None


class TraceStep(BaseModel):
    """One node of the turn: what it decided, in how many milliseconds, with how many seconds left."""

    node: str
    ms: float
    decision: str
    by: str = Field(description="The rule or model that decided.")
    detail: dict[str, Any]
    budget_left: float | None = None


class SendReply(BaseModel):
    conversation_id: str = Field(examples=["0011223344556677"])
    run_id: str
    message: ChatMessage
    trace: list[TraceStep] | None = Field(default=None, description="With `?debug=1`: why the turn went where it went.")


class ResumeRequest(BaseModel):
    """The answer to what an interrupted turn asked."""

    conversation_id: str = Field(pattern="^[a-f0-9]{1,64}$")
    answer: dict[str, Any] | str


class RunView(BaseModel):
    id: str
    conversation_id: str
    status: Literal["active", "done", "failed", "cancelled"]
    error_type: ErrorType | None = None
    created_at: Time
    finished_at: Time | None = None
    message: ChatMessage | None = Field(default=None, description="The reply, once there is one.")


class ConversationItem(BaseModel):
    id: str
    title: str = Field(examples=["我的取件码是多少？"])
    device_id: str | None
    created_at: Time
    updated_at: Time
    message_count: int
    last_message: str


class ConversationList(BaseModel):
    conversations: list[ConversationItem]


class StoredMessage(BaseModel):
    id: int
    role: str
    content: str
    tool_calls: list[dict[str, Any]] | None = None
    tool_name: str | None = None
    error_type: str | None = None
    assets: list[str] | None = None
    created_at: Time


class MessageList(BaseModel):
    messages: list[StoredMessage]


class ConversationView(MessageList):
    id: str
    title: str
    device_id: str | None
    created_at: Time
