import operator
import warnings
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from memory.checkpoints import FILE_NAME, compact, delete_thread, open_saver, prune_thread
from settings import Settings

KEPT = 20


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    trace: Annotated[list[str], operator.add]


async def answer(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage("答" * 400)]}


async def forget(state: State) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=str(message.id)) for message in state["messages"][:-KEPT]]}


async def ask_user(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage(interrupt("which one?"))]}


def chat(saver: AsyncSqliteSaver, node: Any = answer) -> Any:
    inner = StateGraph(State).add_node("inner", node).add_edge(START, "inner").add_edge("inner", END).compile()
    outer = StateGraph(State).add_node("answer", inner).add_node("forget", forget)
    return outer.add_edge(START, "answer").add_edge("answer", "forget").add_edge("forget", END).compile(checkpointer=saver)


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


async def turn(graph: Any, name: str = "t", text: str = "问") -> Any:
    return await graph.ainvoke({"messages": [HumanMessage(text * 100)]}, thread(name), durability="async")


async def rows(saver: AsyncSqliteSaver, table: str, name: str = "t") -> int:
    cursor = await saver.conn.execute(f"SELECT count(*) FROM {table} WHERE thread_id = ?", (name,))
    counted = await cursor.fetchone()
    return 0 if counted is None else int(counted[0])


def file_size(settings: Settings) -> int:
    return (settings.data_dir / FILE_NAME).stat().st_size


def bytes_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob(f"{FILE_NAME}*"))


async def test_the_last_checkpoints_stay_and_the_conversation_goes_on(sqlite_settings: Settings) -> None:
    async with open_saver(sqlite_settings) as saver:
        graph = chat(saver)
        for _ in range(4):
            await turn(graph)
            await turn(graph, "other")
        others = await rows(saver, "checkpoints", "other")
        await prune_thread(saver, "t", keep=2)
        assert len([state async for state in graph.aget_state_history(thread("t"))]) == 2
        assert await rows(saver, "checkpoints", "other") == others
        assert len((await turn(graph))["messages"]) == 10


async def test_pruning_a_short_thread_keeps_all_of_it(sqlite_settings: Settings) -> None:
    async with open_saver(sqlite_settings) as saver:
        await turn(chat(saver))
        before = await rows(saver, "checkpoints")
        await prune_thread(saver, "t", keep=100)
        await prune_thread(saver, "unknown", keep=1)
        assert await rows(saver, "checkpoints") == before


async def test_a_waiting_turn_survives_pruning(sqlite_settings: Settings) -> None:
    async with open_saver(sqlite_settings) as saver:
        graph = chat(saver, ask_user)
        await turn(graph)
        await prune_thread(saver, "t", keep=1)
        resumed = await graph.ainvoke(Command(resume="the left one"), thread("t"))
        assert resumed["messages"][-1].text == "the left one"


async def test_a_long_conversation_has_a_file_of_constant_size(sqlite_settings: Settings) -> None:
    sizes = []
    async with open_saver(sqlite_settings) as saver:
        graph = chat(saver)
        for _ in range(90):
            await turn(graph)
            await prune_thread(saver, "t", keep=3)
            sizes.append(file_size(sqlite_settings))
    assert sizes[-1] <= 1.1 * sizes[29]
    assert sizes[-1] < 1_000_000


async def test_a_deleted_thread_is_nowhere_in_the_file(sqlite_settings: Settings) -> None:
    async with open_saver(sqlite_settings) as saver:
        graph = chat(saver)
        await turn(graph, text="机密")
        await turn(graph, "other")
        await compact(saver)
        assert "机密".encode() in bytes_on_disk(sqlite_settings.data_dir)
        await delete_thread(saver, "t")
        assert "机密".encode() not in bytes_on_disk(sqlite_settings.data_dir)
        assert await rows(saver, "writes") == 0
        assert (await graph.aget_state(thread("other"))).values["messages"]


async def test_only_safe_types_come_back(sqlite_settings: Settings) -> None:
    from pydantic import BaseModel

    class Plan(BaseModel):
        steps: list[str]

    async with open_saver(sqlite_settings) as saver:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = saver.serde.loads_typed(saver.serde.dumps_typed({"plan": Plan(steps=["a"]), "message": HumanMessage("hi", id="1")}))
    assert not isinstance(kept["plan"], Plan)
    assert kept["message"] == HumanMessage("hi", id="1")


@pytest.mark.parametrize("keep", [1, 3])
async def test_pruning_twice_changes_nothing_more(sqlite_settings: Settings, keep: int) -> None:
    async with open_saver(sqlite_settings) as saver:
        graph = chat(saver)
        for _ in range(3):
            await turn(graph)
        await prune_thread(saver, "t", keep=keep)
        once = (await rows(saver, "checkpoints"), await rows(saver, "writes"))
        await prune_thread(saver, "t", keep=keep)
        assert (await rows(saver, "checkpoints"), await rows(saver, "writes")) == once
