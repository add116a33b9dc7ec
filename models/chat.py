"""The chat role: a LangChain chat model per member, streamed, with one way to answer for all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage

from memory.language import Language, language_of
from models.errors import POLICIES, ErrorClass, ErrorType, ModelError, message_for
from models.ledger import Ledger
from models.once import Once
from models.pool import EMBEDDED, Attempt, Member, PoolError, RolePool
from models.remote.openai_chat import chat_model, checked
from settings import ModelSettings

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

ROUND_SECONDS = 60.0
_CUT_OFF: dict[Language, str] = {"zh": "（回答中断了，请重试。）", "en": "(The answer was cut off; please try again.)"}


@dataclass(slots=True)
class ChatRequest:
    """`tools` are OpenAI tool schemas. `shown` collects what was streamed: after the first token no other model may start again."""

    messages: list[AnyMessage]
    tools: Sequence[dict[str, Any]]
    shown: list[str] = field(default_factory=list)

    @property
    def language(self) -> Language:
        asked = [message for message in self.messages if isinstance(message, HumanMessage)]
        return language_of(str(asked[-1].text)) if asked else "zh"


@dataclass(frozen=True, slots=True)
class ChatReply:
    message: AIMessage
    member: str
    degraded: bool
    error_type: ErrorType | None = None
    attempts: Sequence[Attempt] = ()


class ChatRole:
    """Answers every round of the agent loop. Never raises for a model's failure: the reply words it."""

    def __init__(self, members: Sequence[Member[ChatRequest, AIMessage]], *, ledger: Ledger) -> None:
        self._pool = RolePool("chat", members, ledger=ledger)

    async def chat(
        self, messages: list[AnyMessage], *, tools: Sequence[dict[str, Any]], owner: str, turn_id: str, model: str, seconds: float
    ) -> ChatReply:
        request = ChatRequest(messages, tools)
        if model and model not in self._pool.names:
            return _failed(request, PoolError(ErrorClass.NOT_CONFIGURED, []))
        try:
            answered = await self._pool.run(request, owner=owner, turn_id=turn_id, seconds=seconds, prefer=model)
        except PoolError as error:
            return _failed(request, error)
        return ChatReply(answered.reply, answered.member, answered.degraded, attempts=answered.attempts)


def chat_members(
    settings: ModelSettings, *, embedded: Callable[[], "BaseChatModel"], http: Callable[[], "httpx.AsyncClient"]
) -> list[Member[ChatRequest, AIMessage]]:
    """The configured model, if any, then the embedded one. Each is made at its first use."""
    shown = {"started": lambda request: bool(request.shown)}
    members = [Member(EMBEDDED, partial(stream_answer, open_model=Once(lambda: asyncio.to_thread(embedded))), **shown)]
    if settings.configured:
        remote = chat_model(settings, http=http, seconds=ROUND_SECONDS)
        members.insert(0, Member(settings.model or "", partial(stream_answer, open_model=remote, ends_with_reason=True), **shown))
    return members


async def stream_answer(
    request: ChatRequest, *, open_model: Callable[[], Awaitable["BaseChatModel"]], ends_with_reason: bool = False
) -> AIMessage:
    """One model's message: text, or tool calls. `ends_with_reason`: a stream that ends without one was cut."""
    model = await open_model()
    runnable = model.bind_tools(list(request.tools)) if request.tools else model
    whole: AIMessageChunk | None = None
    async for chunk in runnable.astream(request.messages):
        piece = chunk if isinstance(chunk, AIMessageChunk) else AIMessageChunk(content=chunk.content, tool_calls=chunk.tool_calls)
        whole = piece if whole is None else whole + piece
        if piece.text:
            request.shown.append(str(piece.text))
    if whole is None:
        raise ModelError(ErrorClass.EMPTY_RESULT)
    return checked(whole, ends_with_reason=ends_with_reason)


def _failed(request: ChatRequest, error: PoolError) -> ChatReply:
    """The table's words. After the first token the partial answer with an offer to retry, which a refusal does not get."""
    text = message_for(error.error_class, request.language)
    if request.shown:
        ending = text if error.error_class is ErrorClass.CONTENT_POLICY else _CUT_OFF[request.language]
        text = "".join(request.shown) + "\n\n" + ending
    member = error.attempts[-1].member if error.attempts else "none"
    error_type = POLICIES[error.error_class].error_type
    return ChatReply(AIMessage(text), member, degraded=False, error_type=error_type, attempts=error.attempts)
