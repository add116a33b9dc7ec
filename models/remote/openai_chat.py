"""Chat models behind an OpenAI-compatible API. `langchain_openai` costs seconds to import: only a configured model pays."""

from typing import TYPE_CHECKING

from settings import ModelSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

CONNECT_SECONDS = 5.0


def open_chat_model(settings: ModelSettings, *, seconds: float) -> "BaseChatModel":
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
    )
