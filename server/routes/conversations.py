"""Conversations and their transcripts."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from memory.scope import Scope
from memory.tables import Conversation, Message
from server.access import Caller
from server.deletion import delete_conversation
from server.deps import CurrentCaller, Running, RunningApp
from server.errors import responses
from server.schemas.chat import ConversationItem, ConversationList, ConversationView, MessageList, StoredMessage
from server.schemas.common import Deleted, DeviceId

router = APIRouter(prefix="/api/chat/conversations", tags=["conversations"], responses=responses())

AfterId = Annotated[int, Query(ge=0, le=2**63 - 1, description="Only messages after the one with this id.")]


@router.get("")
async def list_conversations(
    app: RunningApp,
    caller: CurrentCaller,
    device_id: Annotated[DeviceId, Query()] = None,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ConversationList:
    """Last used first."""
    scope = Scope(caller.owner, devices=(device_id,) if device_id else None)
    found = await app.services.conversations.list(scope=scope, page=page, page_size=page_size)
    items = [
        ConversationItem(
            **_facts(item.conversation),
            updated_at=item.conversation.updated_at,
            message_count=item.message_count,
            last_message=item.last_message,
        )
        for item in found
    ]
    return ConversationList(conversations=items)


@router.get("/{conversation_id}", response_model_exclude_none=True, responses=responses(404))
async def show(conversation_id: str, app: RunningApp, caller: CurrentCaller) -> ConversationView:
    """The whole transcript, oldest message first."""
    conversation = await _found(app, caller, conversation_id)
    messages = await app.services.conversations.messages(conversation_id, scope=Scope(caller.owner))
    return ConversationView(**_facts(conversation), messages=_shown(messages))


@router.get("/{conversation_id}/messages", response_model_exclude_none=True, responses=responses(404))
async def messages_after(conversation_id: str, app: RunningApp, caller: CurrentCaller, after_id: AfterId = 0) -> MessageList:
    """What was said since: how a client that left finds the reply."""
    await _found(app, caller, conversation_id)
    messages = await app.services.conversations.messages(conversation_id, scope=Scope(caller.owner), after_id=after_id)
    return MessageList(messages=_shown(messages))


@router.delete("/{conversation_id}", responses=responses(404))
async def delete(conversation_id: str, app: RunningApp, caller: CurrentCaller) -> Deleted:
    """The conversation with its messages, runs, checkpoints and pictures. An active run is stopped first."""
    scope = Scope(caller.owner)
    if not await delete_conversation(conversation_id, scope=scope, services=app.services, saver=app.saver, runs=app.runs, jobs=app.jobs):
        raise HTTPException(404, f"no conversation {conversation_id}")
    return Deleted()


async def _found(app: Running, caller: Caller, conversation_id: str) -> Conversation:
    conversation = await app.services.conversations.get(conversation_id, scope=Scope(caller.owner))
    if conversation is None:
        raise HTTPException(404, f"no conversation {conversation_id}")
    return conversation


def _facts(conversation: Conversation) -> dict[str, Any]:
    names = ("id", "title", "device_id", "created_at")
    return {name: getattr(conversation, name) for name in names}


def _shown(messages: Sequence[Message]) -> list[StoredMessage]:
    names = ("id", "role", "content", "tool_calls", "tool_name", "error_type", "created_at")
    return [StoredMessage(**{name: getattr(message, name) for name in names}, assets=message.asset_ids or None) for message in messages]
