"""Chat models behind an OpenAI-compatible API. `langchain_openai` costs seconds to import: only a configured model pays."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage

from models.errors import ErrorClass, ModelError
from models.once import Once
from settings import ModelSettings

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

CONNECT_SECONDS = 5.0
_REFUSED = frozenset({"content_filter", "safety", "image_safety", "prohibited_content", "blocklist", "sensitive"})


def chat_model(settings: ModelSettings, *, http: Callable[[], "httpx.AsyncClient"], seconds: float) -> Once["BaseChatModel"]:
    """`open_chat_model` at the first use, in a thread: the event loop does not wait for the import."""
    return Once(lambda: asyncio.to_thread(open_chat_model, settings, http=http(), seconds=seconds))


def open_chat_model(settings: ModelSettings, *, http: "httpx.AsyncClient", seconds: float) -> "BaseChatModel":
    """A client that never retries by itself (the pool does) and gives up after `seconds` without a byte."""
    import httpx
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=settings.model or "",
        base_url=settings.base_url,
        api_key=settings.api_key or (lambda: "none"),
        temperature=settings.temperature,
        timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
        max_retries=0,
        stream_usage=False,
        http_async_client=http,
    )


def checked(whole: AIMessage, *, ends_with_reason: bool) -> AIMessage:
    """The message as text and tool calls. Raises ModelError for a refused, cut, malformed or empty one.

    `ends_with_reason`: a reply without a finish reason was cut.
    """
    reason = whole.response_metadata.get("finish_reason")
    if str(reason).lower() in _REFUSED:
        raise ModelError(ErrorClass.CONTENT_POLICY)
    if ends_with_reason and not reason:
        raise ModelError(ErrorClass.TRANSIENT, "the reply was cut")
    if whole.invalid_tool_calls and not whole.tool_calls:
        raise ModelError(ErrorClass.BAD_STRUCTURE)
    if not whole.tool_calls and not str(whole.text).strip():
        raise ModelError(ErrorClass.EMPTY_RESULT)
    return AIMessage(str(whole.text), tool_calls=whole.tool_calls, id=whole.id)
