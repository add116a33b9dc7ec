"""One turn in this process: store the message, run the graph, keep the thread small."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.runtime import RunControl

from graph.builder import RECURSION_LIMIT, build_chat
from graph.services import Services
from memory.checkpoints import prune_thread
from memory.context import ChatContext
from memory.inline import store_inline
from memory.state import ChatInput, ChatState, TraceEntry
from models.errors import ErrorType

OnPart = Callable[[dict[str, Any]], None]
"""Is told each part of the graph's stream (version v2, modes updates, messages and custom, with subgraphs)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """`citations` are photo ids in the order of their first mention in `text`."""

    conversation_id: str
    text: str
    citations: list[int]
    tool_calls: list[dict[str, Any]]
    asset_ids: list[str]
    trace: list[TraceEntry]
    degraded: bool
    error_type: ErrorType | None
    state: ChatState = field(repr=False)


class Turns:
    """Runs turns of conversations on one saver. Two turns of one conversation must not run at once."""

    def __init__(self, *, services: Services, saver: AsyncSqliteSaver) -> None:
        self._services = services
        self._saver = saver
        self._graph = build_chat(services).compile(checkpointer=saver, name="evatar")

    async def run(
        self,
        *,
        text: str,
        context: ChatContext,
        parts: Sequence[dict[str, Any]] = (),
        conversation_id: str | None = None,
        on_part: OnPart | None = None,
    ) -> TurnResult:
        """The user's message is in the transcript before the graph starts, whatever comes of the run."""
        services = self._services
        conversation = conversation_id or new_conversation_id()
        message = await self.accept(text=text, parts=parts, owner=context.owner, conversation_id=conversation)
        at = context.clock(default_zone=services.settings.timezone)
        await services.conversations.record(owner=context.owner, conversation_id=conversation, messages=[message], at=at)
        return await self.go(message, conversation_id=conversation, context=context, on_part=on_part)

    async def accept(self, *, text: str, parts: Sequence[dict[str, Any]], owner: str, conversation_id: str) -> HumanMessage:
        """The user's message with an id of its own, its bytes stored and replaced by references."""
        message = HumanMessage([{"type": "text", "text": text}, *parts] if parts else text, id=secrets.token_hex(8))
        assets, base_url = self._services.assets, self._services.settings.base_url
        return cast(
            HumanMessage, await store_inline(message, assets=assets, owner=owner, base_url=base_url, conversation_id=conversation_id)
        )

    async def go(
        self,
        message: HumanMessage,
        *,
        conversation_id: str,
        context: ChatContext,
        on_part: OnPart | None = None,
        control: RunControl | None = None,
        again: bool = False,
    ) -> TurnResult:
        """Run the graph for a message that is in the transcript. Raises GraphDrained when `control` asked for it.

        `again`: an earlier run of this message was cut off; what the thread holds of it is not done a second time.
        """
        config: RunnableConfig = {"configurable": {"thread_id": conversation_id}, "recursion_limit": RECURSION_LIMIT}
        entry: ChatInput | None = ChatInput(messages=[message])
        final = ChatState()
        if again:
            before = await self._graph.aget_state(config)
            if before.values.get("turn_id") == message.id:
                if not before.next:
                    return _result(conversation_id, cast(ChatState, before.values))
                entry = None
        async for part in self._graph.astream(
            entry,
            config,
            context=context,
            stream_mode=["values", "updates", "messages", "custom"] if on_part else ["values"],
            subgraphs=bool(on_part),
            durability="exit",
            version="v2",
            control=control,
        ):
            if part["type"] == "values" and not part["ns"]:
                final = part["data"]
            elif on_part is not None and part["type"] != "values":
                on_part(dict(part))
        await prune_thread(self._saver, conversation_id, keep=self._services.settings.checkpoints_kept)
        return _result(conversation_id, final)


def new_conversation_id() -> str:
    """16 hexadecimal digits."""
    return secrets.token_hex(8)


def _result(conversation: str, state: ChatState) -> TurnResult:
    reply = state["messages"][-1]
    if not isinstance(reply, AIMessage):
        raise RuntimeError("the turn ended without a reply")
    facts = reply.additional_kwargs
    results = state["results"]
    return TurnResult(
        conversation_id=conversation,
        text=str(reply.text),
        citations=facts.get("citations", []),
        tool_calls=[call for result in results for call in result.get("tool_calls", [])],
        asset_ids=[asset_id for result in results for asset_id in result["asset_ids"]],
        trace=state["trace"],
        degraded=facts.get("degraded", False),
        error_type=facts.get("error_type"),
        state=state,
    )
