"""The chat model that needs no key and no network: it plans tool calls by rules and words answers from their results."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from memory.attachments import words_of
from memory.language import language_of
from models.embedded.chat.ask import Inquiry, understand
from models.embedded.chat.compose import Finding, compose, findings
from models.embedded.chat.plan import Call, first_calls, on_the_web, retry_calls
from models.embedded.chat.talk import about_attachments, small_talk

_NOW = re.compile(r"当前时间：(\S+)")
_PIECE = 120  # characters of a streamed chunk
_TOOL_ROUNDS = 2


class EmbeddedChat(BaseChatModel):
    """Rules instead of a model. The clock is the one the system message states."""

    @property
    def _llm_type(self) -> str:
        return "evatar-embedded"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> ChatResult:
        said = respond(messages, offered=_names(kwargs.get("tools")))
        message = AIMessage(said) if isinstance(said, str) else AIMessage("", tool_calls=[_tool_call(call) for call in said])
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = respond(messages, offered=_names(kwargs.get("tools")))
        for chunk in _text_chunks(said) if isinstance(said, str) else [_call_chunk(said)]:
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.text), chunk=ChatGenerationChunk(message=chunk))
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        said = await asyncio.to_thread(respond, messages, offered=_names(kwargs.get("tools")))
        for chunk in _text_chunks(said) if isinstance(said, str) else [_call_chunk(said)]:
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=ChatGenerationChunk(message=chunk))
            yield ChatGenerationChunk(message=chunk)


def respond(messages: Sequence[BaseMessage], *, offered: frozenset[str]) -> str | list[Call]:
    """The calls to make, or the answer. Without tools on offer it answers with what there is."""
    questions = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage)]
    if not questions:
        return small_talk("help", "zh") or ""
    said = str(messages[questions[-1]].text)
    question = words_of(said)
    if len(question) < len(said.strip()):
        return about_attachments(said.strip()[len(question) :].strip(), language_of(question or said))
    turn = messages[questions[-1] + 1 :]
    made = [Call(call["name"], call["args"]) for message in turn if isinstance(message, AIMessage) for call in message.tool_calls]
    if not made and (talk := small_talk(question, language_of(question))):
        return talk
    history = [str(messages[index].text) for index in questions[:-1]]
    inquiry = understand(question, history=history, now=_clock(messages))
    results = [_parsed(message) for message in turn if isinstance(message, ToolMessage)]
    found = findings(inquiry, results) if results and inquiry.mode != "list" else []
    calls = _next_calls(inquiry, results, found, made=made, rounds=_rounds(turn), offered=offered)
    return calls or compose(inquiry, results, found)


def _next_calls(
    inquiry: Inquiry,
    results: Sequence[dict[str, Any]],
    found: Sequence[Finding],
    *,
    made: Sequence[Call],
    rounds: int,
    offered: frozenset[str],
) -> list[Call]:
    if not offered or rounds >= _TOOL_ROUNDS:
        return []
    if not made:
        return first_calls(inquiry, offered=offered)
    if inquiry.mode == "list" or on_the_web(inquiry.question) or any(result.get("results") for result in results):
        return []
    missing = [finding.part for finding in found if not finding.evidence or finding.by_other_words]
    return retry_calls(inquiry, missing, offered=offered, made=made)


def _rounds(turn: Sequence[BaseMessage]) -> int:
    return sum(isinstance(message, AIMessage) and bool(message.tool_calls) for message in turn)


def _clock(messages: Sequence[BaseMessage]) -> datetime:
    """The present moment as the system message states it, else the host's."""
    for message in messages:
        if isinstance(message, SystemMessage) and (stated := _NOW.search(str(message.text))):
            try:
                return datetime.fromisoformat(stated[1].partition("（")[0])
            except ValueError:
                break
    return datetime.now().astimezone()


def _parsed(message: ToolMessage) -> dict[str, Any]:
    """A tool's JSON object; anything else is no result."""
    try:
        value = json.loads(str(message.text))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _names(tools: Sequence[dict[str, Any]] | None) -> frozenset[str]:
    return frozenset(str(tool["function"]["name"]) for tool in tools or ())


def _tool_call(call: Call) -> dict[str, Any]:
    return {"name": call.name, "args": call.args, "id": f"call_{secrets.token_hex(6)}", "type": "tool_call"}


def _call_chunk(calls: Sequence[Call]) -> AIMessageChunk:
    chunks = [
        tool_call_chunk(name=call.name, args=json.dumps(call.args, ensure_ascii=False), id=f"call_{secrets.token_hex(6)}", index=index)
        for index, call in enumerate(calls)
    ]
    return AIMessageChunk(content="", tool_call_chunks=chunks)


def _text_chunks(text: str) -> Iterator[AIMessageChunk]:
    for start in range(0, len(text), _PIECE):
        yield AIMessageChunk(content=text[start : start + _PIECE])
