"""The chat executor's loop: think, call tools, think again, answer."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import ValidationError

from memory.context import ChatContext
from memory.state import AgentState, StepResult, ToolCallState
from models.chat import ChatReply
from nodes import trace
from nodes.progress import tool_answered, tool_called
from nodes.prompts import LAST_ROUND, TIMED_OUT, chat_system

RunTool = Callable[[str, dict[str, Any], ChatContext], Awaitable[str]]
_CITATION = re.compile(r" ?\[截图#(\d+)\]")


class ChatPool(Protocol):
    """The chat role. Raises nothing: what went wrong is in the reply, worded for the user."""

    async def chat(
        self, messages: list[AnyMessage], *, tools: Sequence[dict[str, Any]], owner: str, turn_id: str, model: str, seconds: float
    ) -> ChatReply: ...


def history_of(messages: list[AnyMessage]) -> list[AnyMessage]:
    """Earlier turns as plain text; the newest message is the turn itself and comes from its resolved input."""
    return [
        HumanMessage(str(message.text)) if isinstance(message, HumanMessage) else AIMessage(str(message.text)) for message in messages[:-1]
    ]


def dangling(scratch: list[AnyMessage], *, known: Mapping[str, str]) -> list[ToolMessage]:
    """Answers for tool calls that no node will answer, so that the thread stays valid for the next model call."""
    answered = {message.tool_call_id for message in scratch if isinstance(message, ToolMessage)}
    calls = [call for message in scratch if isinstance(message, AIMessage) for call in message.tool_calls]
    return [
        ToolMessage(
            json.dumps({"tool": call["name"], "error": "unknown_tool" if call["name"] not in known else "cancelled"}, ensure_ascii=False),
            tool_call_id=str(call["id"]),
            name=call["name"],
            status="error",
        )
        for call in calls
        if call["id"] not in answered
    ]


async def think(
    state: AgentState,
    runtime: Runtime[ChatContext],
    *,
    pool: ChatPool,
    tools: Sequence[dict[str, Any]],
    tool_nodes: Mapping[str, str],
    max_rounds: int,
    seconds: float,
    zone: str | None,
) -> dict[str, Any]:
    """One model round. The last one gets no tools, so that it answers with what was found."""
    started = time.perf_counter()
    rounds = state.get("rounds", 0) + 1
    last = rounds >= max_rounds
    scratch = state.get("scratch", [])
    repairs = dangling(scratch, known=tool_nodes)
    system = chat_system(runtime.context.clock(default_zone=zone)) + (f"\n\n{LAST_ROUND}" if last else "")
    reply = await pool.chat(
        [SystemMessage(system), *history_of(state["messages"]), HumanMessage(state["input"]["text"]), *scratch, *repairs],
        tools=[] if last else tools,
        owner=runtime.context.owner,
        turn_id=state["turn_id"],
        model=runtime.context.model,
        seconds=seconds,
    )
    message = reply.message.model_copy(update={"tool_calls": [], "invalid_tool_calls": []}) if last else reply.message
    if reply.error_type:
        message = message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, "error_type": reply.error_type}})
    for call in message.tool_calls:
        runtime.stream_writer(tool_called(call))
    decision = ", ".join(f"{call['name']}({_brief(call['args'])})" for call in message.tool_calls) or "answer"
    detail = {"round": rounds, "attempts": [asdict(attempt) for attempt in reply.attempts]}
    entry = trace.entry(node="agent", started=started, decision=decision, by=reply.member, detail=detail)
    return {
        "scratch": [*repairs, message],
        "rounds": rounds,
        "degraded": state.get("degraded", False) or reply.degraded,
        "trace": [entry],
    }


def _brief(args: dict[str, Any]) -> str:
    return json.dumps(args, ensure_ascii=False)[:160]


def _key(call: Mapping[str, Any]) -> str:
    return json.dumps([call["name"], call["args"]], ensure_ascii=False, sort_keys=True)


def to_tools(state: AgentState, *, tool_nodes: Mapping[str, str]) -> list[Send] | str:
    """A Send per distinct tool call; back to the model when it only asked for tools that do not exist; else answer."""
    asked = state["scratch"][-1]
    if not isinstance(asked, AIMessage) or not asked.tool_calls:
        return "answer"
    groups: dict[str, list[dict[str, Any]]] = {}
    for call in asked.tool_calls:
        if call["name"] in tool_nodes:
            groups.setdefault(_key(call), []).append(dict(call))
    sends = [Send(tool_nodes[calls[0]["name"]], ToolCallState(calls=calls, scratch=state["scratch"])) for calls in groups.values()]
    return sends or "agent"


def said_before(calls: list[dict[str, Any]], scratch: list[AnyMessage]) -> str | None:
    """The result of an identical call earlier in this turn."""
    keys = {call["id"]: _key(call) for message in scratch if isinstance(message, AIMessage) for call in message.tool_calls}
    wanted = _key(calls[0])
    for message in scratch:
        if isinstance(message, ToolMessage) and keys.get(message.tool_call_id) == wanted and message.status == "success":
            return str(message.text)
    return None


async def call_tool(state: ToolCallState, runtime: Runtime[ChatContext], *, run: RunTool, seconds: float, node: str) -> dict[str, Any]:
    """Answer identical calls with one execution, or from this turn's cache. A failing tool is an answer too."""
    started = time.perf_counter()
    call = state["calls"][0]
    cached = said_before(state["calls"], state["scratch"])
    status = "success"
    if cached is not None:
        content, by = cached, "cache"
    else:
        content, by, status = await _run(call, runtime.context, run=run, seconds=seconds)
    answers = [ToolMessage(content, tool_call_id=str(call["id"]), name=call["name"], status=status) for call in state["calls"]]
    for message in answers:
        runtime.stream_writer(tool_answered(message))
    entry = trace.entry(node=node, started=started, decision=f"{call['name']}({_brief(call['args'])})", by=by, detail={"status": status})
    return {"scratch": answers, "trace": [entry]}


async def _run(call: dict[str, Any], context: ChatContext, *, run: RunTool, seconds: float) -> tuple[str, str, str]:
    """(content, who answered, status). Wrong arguments and time-outs go back to the model as data."""
    try:
        async with asyncio.timeout(seconds):
            return await run(call["name"], call["args"], context), "tool", "success"
    except TimeoutError:
        error = {"tool": call["name"], "error": "timeout"}
    except ValidationError as problem:
        fields = [".".join(map(str, part["loc"])) + ": " + part["msg"] for part in problem.errors()]
        error = {"tool": call["name"], "error": "bad_arguments", "detail": "; ".join(fields)}
    return json.dumps(error, ensure_ascii=False), "error", "error"


def given_ids(scratch: list[AnyMessage]) -> set[int]:
    """Photo ids that the tools of this turn handed out: the only ones an answer may cite."""
    ids: set[int] = set()
    for message in scratch:
        if isinstance(message, ToolMessage) and message.status == "success":
            hits = json.loads(str(message.text)).get("hits", [])
            ids.update(int(hit["id"]) for hit in hits)
    return ids


def keep_given_citations(text: str, given: set[int]) -> tuple[str, list[int]]:
    """The text without citations of ids it was not given, and the ids it cites in order of first mention."""
    cited = list(dict.fromkeys(int(number) for number in _CITATION.findall(text) if int(number) in given))
    return _CITATION.sub(lambda match: match[0] if int(match[1]) in given else "", text), cited


async def answer(state: AgentState) -> dict[str, Any]:
    """The loop's last message becomes the step's result."""
    started = time.perf_counter()
    scratch = state["scratch"]
    final = scratch[-1]
    error_type = final.additional_kwargs.get("error_type")
    text, cited = keep_given_citations(str(final.text).strip(), given_ids(scratch))
    result = StepResult(
        step_id=state["step"]["id"],
        status="failed" if error_type else "done",
        text=text or TIMED_OUT,
        asset_ids=[],
        citations=cited,
        degraded=state.get("degraded", False) and not error_type,
        error_type=error_type,
        tool_calls=[
            {"name": call["name"], "args": call["args"]}
            for message in scratch
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        ],
    )
    decision = f"{len(text)} characters, cites {cited}"
    return {"results": [result], "trace": [trace.entry(node="answer", started=started, decision=decision)]}
