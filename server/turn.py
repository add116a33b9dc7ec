"""One turn in this process: store the message, run the graph, keep the thread small."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.builder import RECURSION_LIMIT, build_chat
from graph.services import Services
from memory.checkpoints import prune_thread
from memory.context import ChatContext
from memory.inline import store_inline
from memory.state import ChatState, TraceEntry

OnToken = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """`citations` are photo ids in the order of their first mention in `text`."""

    conversation_id: str
    text: str
    citations: list[int]
    tool_calls: list[dict[str, Any]]
    trace: list[TraceEntry]
    degraded: bool
    error_type: str | None
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
        on_token: OnToken | None = None,
    ) -> TurnResult:
        """The user's message is in the transcript before the graph starts, whatever comes of the run."""
        services = self._services
        conversation = conversation_id or secrets.token_hex(8)
        message = await store_inline(
            HumanMessage([{"type": "text", "text": text}, *parts] if parts else text, id=secrets.token_hex(8)),
            assets=services.assets,
            owner=context.owner,
            base_url=services.settings.base_url,
            conversation_id=conversation,
        )
        at = context.clock(default_zone=services.settings.timezone)
        await services.conversations.record(owner=context.owner, conversation_id=conversation, messages=[message], at=at)
        final = await self._stream(message, conversation, context, on_token)
        await prune_thread(self._saver, conversation, keep=services.settings.checkpoints_kept)
        return _result(conversation, final)

    async def _stream(self, message: AnyMessage, conversation: str, context: ChatContext, on_token: OnToken | None) -> ChatState:
        final = ChatState()
        async for part in self._graph.astream(
            {"messages": [message]},
            {"configurable": {"thread_id": conversation}, "recursion_limit": RECURSION_LIMIT},
            context=context,
            stream_mode=["values", "messages"] if on_token else ["values"],
            subgraphs=bool(on_token),
            durability="exit",
            version="v2",
        ):
            if part["type"] == "values" and not part["ns"]:
                final = part["data"]
            elif part["type"] == "messages" and on_token:
                chunk, metadata = part["data"]
                if metadata.get("langgraph_node") == "agent" and chunk.text:
                    on_token(str(chunk.text))
        return final


def _result(conversation: str, state: ChatState) -> TurnResult:
    reply = state["messages"][-1]
    if not isinstance(reply, AIMessage):
        raise RuntimeError("the turn ended without a reply")
    facts = reply.additional_kwargs
    return TurnResult(
        conversation_id=conversation,
        text=str(reply.text),
        citations=facts.get("citations", []),
        tool_calls=[call for result in state["results"] for call in result.get("tool_calls", [])],
        trace=state["trace"],
        degraded=facts.get("degraded", False),
        error_type=facts.get("error_type"),
        state=state,
    )
