"""A keyless turn against a bare graph of the same topology, saver and durability; and turn 400 against turn 10.

The bare graph makes the four small transactions that any turn makes: the user's message before it, the library looked at twice, the
transcript after it. Its nodes do nothing else.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite, Send

from graph.services import Services
from memory.checkpoints import open_saver
from memory.context import ChatContext
from memory.state import AgentState, ChatInput, ChatState, ExecutorOutput, ExecutorState
from server.turn import Turns
from settings import Settings

pytestmark = pytest.mark.bench
CONTEXT = ChatContext(tz="Asia/Shanghai", now="2026-11-30T12:00:00+08:00")
NODES = ["resolve_media", "recall", "classify", "resolve_targets", "route"]


def bare_agent() -> Any:
    async def agent(state: AgentState) -> dict[str, Any]:
        if state.get("scratch"):
            return {"scratch": [AIMessage("好")], "rounds": 2}
        return {"scratch": [AIMessage("", tool_calls=[{"name": "search_knowledge", "args": {"query": "a"}, "id": "1"}])], "rounds": 1}

    async def tool(state: AgentState) -> dict[str, Any]:
        return {"scratch": [ToolMessage("{}", tool_call_id="1")]}

    async def answer(state: AgentState) -> dict[str, Any]:
        result = {"step_id": "s1", "status": "done", "text": "好", "asset_ids": [], "citations": [], "degraded": False, "error_type": None}
        return {"results": [result]}

    def after(state: AgentState) -> Any:
        return [Send("search_knowledge", state)] if state["scratch"][-1].tool_calls else "answer"  # type: ignore[union-attr]

    graph: Any = StateGraph(AgentState, context_schema=ChatContext, input_schema=ExecutorState, output_schema=ExecutorOutput)
    graph.add_node("agent", agent)
    graph.add_node("search_knowledge", tool)
    graph.add_node("answer", answer)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", after, ["search_knowledge", "answer"])
    graph.add_edge("search_knowledge", "agent")
    graph.add_edge("answer", END)
    return graph.compile()


def bare_graph() -> Any:
    async def first(state: ChatState) -> dict[str, Any]:
        return {"results": Overwrite([]), "trace": Overwrite([])}

    async def nothing(state: ChatState) -> dict[str, Any]:
        return {"trace": []}

    async def reply(state: ChatState) -> dict[str, Any]:
        return {"messages": [AIMessage("好")]}

    def path(state: ChatState) -> str:
        return "light"

    def ready(state: ChatState) -> Any:
        return "reply" if state.get("results") else [Send("chat", {"messages": state["messages"]})]

    graph: Any = StateGraph(ChatState, context_schema=ChatContext, input_schema=ChatInput)
    graph.add_node("resolve_media", first)
    for name in [*NODES[1:], "light", "heavy", "dispatch", "collect", "remember"]:
        graph.add_node(name, nothing)
    graph.add_node("chat", bare_agent())
    graph.add_node("reply", reply)
    for before, after in zip([START, *NODES], NODES, strict=False):
        graph.add_edge(before, after)
    graph.add_conditional_edges("route", path, ["light", "heavy"])
    graph.add_edge("light", "dispatch")
    graph.add_edge("heavy", "dispatch")
    graph.add_conditional_edges("dispatch", ready, ["chat", "reply"])
    graph.add_edge("chat", "collect")
    graph.add_edge("collect", "dispatch")
    graph.add_edge("reply", "remember")
    graph.add_edge("remember", END)
    return graph


async def bare_turn(bare: Any, services: Services, message: dict[str, Any], config: dict[str, Any]) -> None:
    (asked,) = message["messages"]
    conversation = f"b{config['configurable']['thread_id']}"
    at = CONTEXT.clock()
    await services.conversations.record(owner="local", conversation_id=conversation, messages=[asked], at=at)
    await services.photos.pending(scope=CONTEXT.scope)
    await bare.ainvoke(message, config, context=CONTEXT, durability="exit")
    await services.photos.pending(scope=CONTEXT.scope)
    await services.conversations.record(owner="local", conversation_id=conversation, messages=[asked], at=at)


async def timed(run: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await run()
    return (time.perf_counter() - started) * 1000


async def test_a_keyless_turn_against_a_bare_graph(tmp_path: Path, demo_library: Path):
    settings = Settings(data_dir=demo_library)
    async with Services.open(settings) as services, open_saver(settings) as saver, open_saver(Settings(data_dir=tmp_path)) as bare_saver:
        turns = Turns(services=services, saver=saver)
        bare = bare_graph().compile(checkpointer=bare_saver)
        ours, theirs = [], []
        for number in range(60):
            config = {"configurable": {"thread_id": f"{number:x}"}}
            message = {"messages": [HumanMessage("我的取件码是多少", id=f"m{number}")]}
            theirs.append(await timed(lambda m=message, c=config: bare.ainvoke(m, c, context=CONTEXT, durability="exit")))
            ours.append(await timed(lambda: turns.run(text="我的取件码是多少", context=CONTEXT)))
    ratio = statistics.median(ours[10:]) / statistics.median(theirs[10:])
    print(f"\nkeyless turn p50 {statistics.median(ours[10:]):.1f} ms, bare graph {statistics.median(theirs[10:]):.1f} ms: {ratio:.2f} ×")
    assert ratio <= 2.5


def size_of(folder: Path) -> int:
    """Bytes of the checkpoint file and its log."""
    return sum(file.stat().st_size for file in folder.glob("checkpoints.db*"))


async def test_a_long_conversation_costs_the_same_per_turn(demo_library: Path):
    settings = Settings(data_dir=demo_library)
    times, sizes = [], {}
    questions = ["我的取件码是多少", "昨天截了哪些图", "What time is my train?", "你好"]
    async with Services.open(settings) as services, open_saver(settings) as saver:
        turns = Turns(services=services, saver=saver)
        for number in range(1, 401):
            text = questions[number % len(questions)]
            times.append(await timed(lambda q=text: turns.run(text=q, context=CONTEXT, conversation_id="c0ffee")))
            if number in (50, 400):
                sizes[number] = await asyncio.to_thread(size_of, demo_library)
    early, late = statistics.median(times[6:22]), statistics.median(times[-16:])
    print(f"\nturn 10: {early:.1f} ms, turn 400: {late:.1f} ms ({late / early:.2f} ×)")
    print(f"checkpoint bytes at turn 50: {sizes[50]}, at turn 400: {sizes[400]}")
    assert late <= 1.2 * early
    assert sizes[400] <= 1.1 * sizes[50]
