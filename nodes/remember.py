"""Close the turn: working memory, transcript, and a history of constant size."""

import time
from datetime import datetime
from typing import Any, Protocol

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from memory.context import ChatContext
from memory.state import STATE_VERSION, ChatState, WorkingMemory
from nodes import trace


class Transcript(Protocol):
    async def record(self, *, owner: str, conversation_id: str, messages: list[AnyMessage], at: datetime) -> None: ...


def beyond_limit(messages: list[AnyMessage], limit: int) -> list[AnyMessage]:
    """The oldest messages to drop so that at most `limit` stay and the rest begins with a user's message."""
    for index, message in enumerate(messages):
        if isinstance(message, HumanMessage) and len(messages) - index <= limit:
            return messages[:index]
    return []


def update_session_working_memory(state: ChatState, *, at: datetime) -> WorkingMemory:
    """Focus moves to the pictures the turn was about; a turn without pictures leaves it."""
    generated = [asset_id for result in state["results"] for asset_id in result["asset_ids"]]
    meant = state["targets"]["asset_ids"]
    before = state["working_memory"]
    return WorkingMemory(
        current_task=state["input"]["text"][:200],
        focus_asset_ids=generated or meant or before["focus_asset_ids"],
        last_referenced_asset_ids=meant or before["last_referenced_asset_ids"],
        last_generated_asset_ids=generated or before["last_generated_asset_ids"],
        last_intent=state["analysis"]["intent"],
        updated_at=at.isoformat(timespec="seconds"),
    )


async def remember(
    state: ChatState, runtime: Runtime[ChatContext], config: RunnableConfig, *, transcript: Transcript, history_limit: int, zone: str | None
) -> dict[str, Any]:
    started = time.perf_counter()
    at = runtime.context.clock(default_zone=zone)
    messages = state["messages"]
    thread = str(config["configurable"].get("thread_id", ""))
    if thread:
        await transcript.record(owner=runtime.context.owner, conversation_id=thread.replace("-", ""), messages=messages[-2:], at=at)
    dropped = beyond_limit(messages, history_limit)
    return {
        "state_version": STATE_VERSION,
        "working_memory": update_session_working_memory(state, at=at),
        "messages": [RemoveMessage(id=str(message.id)) for message in dropped],
        "trace": [trace.entry(node="remember", started=started, decision=f"{len(messages) - len(dropped)} messages kept")],
    }
