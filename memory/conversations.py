"""Conversations and their transcripts."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from sqlalchemy import Select, case, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from memory.database import Database
from memory.scope import Scope
from memory.tables import Attempt, Conversation, Message, stamp

TITLE_LENGTH = 50
_ID = re.compile(r"[a-f0-9]{1,64}")
_ASSET = re.compile(r"asset://([\w-]{1,64})")
_CONVERSATIONS: Any = Conversation.__table__
_MESSAGES: Any = Message.__table__
_SAID = ("role", "content", "asset_ids", "tool_calls", "tool_name", "error_type")
_ROLES = {"human": "user", "ai": "assistant"}


class Summary(NamedTuple):
    conversation: Conversation
    message_count: int
    last_message: str


class Conversations:
    """Every read takes a scope; another owner's conversation is as absent as one that never was."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open = _open_conversation(db)
        self._say = _say_message(db)

    async def create(self, *, owner: str, at: datetime, device_id: str | None = None, tz: str | None = None) -> str:
        """A new conversation's id: 16 hexadecimal digits."""
        conversation_id = secrets.token_hex(8)
        async with self._db.begin() as session:
            session.add(Conversation(id=conversation_id, owner=owner, device_id=device_id, tz=tz, updated_at=at, **stamp(at)))
        return conversation_id

    async def get(self, conversation_id: str, *, scope: Scope) -> Conversation | None:
        async with self._db.session() as session:
            return await session.scalar(_visible(scope).where(Conversation.id == conversation_id))

    async def list(self, *, scope: Scope, page: int = 1, page_size: int = 50) -> Sequence[Summary]:
        """Last used first."""
        newest = _visible(scope).order_by(Conversation.updated_at.desc(), Conversation.id)
        async with self._db.session() as session:
            found = (await session.scalars(newest.limit(page_size).offset((page - 1) * page_size))).all()
            said = await _said(session, [conversation.id for conversation in found])
        return [Summary(conversation, *said.get(conversation.id, (0, ""))) for conversation in found]

    async def messages(self, conversation_id: str, *, scope: Scope, after_id: int = 0) -> Sequence[Message]:
        """The transcript in order, after the message with that id; empty for a conversation outside the scope."""
        visible = _visible(scope).where(Conversation.id == conversation_id).with_only_columns(Conversation.id)
        query = select(Message).where(Message.conversation_id.in_(visible), Message.id > after_id).order_by(Message.id)
        async with self._db.session() as session:
            return (await session.scalars(query)).all()

    async def record(self, *, owner: str, conversation_id: str, messages: Sequence[AnyMessage], at: datetime) -> None:
        """Write messages into the transcript; one that is there already (by its id) is replaced in its place.

        The conversation is made if absent; its title is the beginning of the first user message. Raises ValueError for
        a malformed conversation id, LookupError for a conversation of another owner.
        """
        async with self._db.begin() as session:
            await self.write(session, owner=owner, conversation_id=conversation_id, messages=messages, at=at)

    async def write(
        self,
        session: AsyncSession,
        *,
        owner: str,
        conversation_id: str,
        messages: Sequence[AnyMessage],
        at: datetime,
        device_id: str | None = None,
        tz: str | None = None,
    ) -> None:
        """`record` in a transaction that is open. The device and zone are those of the one who opened the conversation."""
        if not _ID.fullmatch(conversation_id):
            raise ValueError(f"{conversation_id!r} is no conversation id: 1 to 64 characters of 0-9 and a-f")
        made = {"owner": owner, **stamp(at)}
        rows = [{"conversation_id": conversation_id, "uid": message.id, **_columns(message), **made} for message in messages]
        title = next((" ".join(row["content"].split())[:TITLE_LENGTH] for row in rows if row["role"] == "user"), "")
        opened = {"id": conversation_id, "title": title, "device_id": device_id, "tz": tz, "updated_at": at, **made}
        if await session.scalar(self._open, opened) is None:
            raise LookupError(f"no conversation {conversation_id}")
        if rows:
            await session.execute(self._say, rows)

    async def delete(self, conversation_id: str, *, scope: Scope) -> bool:
        """Remove the conversation with its transcript, runs and ledger rows. False: there is none in this scope."""
        async with self._db.begin() as session:
            conversation = await session.scalar(_visible(scope).where(Conversation.id == conversation_id))
            if conversation is None:
                return False
            turns = select(Message.uid).where(Message.conversation_id == conversation_id)
            await session.execute(delete(Attempt).where(Attempt.owner == scope.owner, Attempt.turn_id.in_(turns)))
            await session.delete(conversation)
        return True


def _open_conversation(db: Database) -> Any:
    """Makes the conversation, or touches the one there is; returns no row for another owner's."""
    insert = db.insert(_CONVERSATIONS)
    there, new = _CONVERSATIONS.c, insert.excluded
    titled = case((there.title == "", new.title), else_=there.title)
    touched = {"updated_at": new.updated_at, "title": titled, "tz": func.coalesce(new.tz, there.tz)}
    return insert.on_conflict_do_update(index_elements=["id"], set_=touched, where=there.owner == new.owner).returning(there.id)


def _say_message(db: Database) -> Any:
    insert = db.insert(_MESSAGES)
    said = {name: insert.excluded[name] for name in _SAID}
    return insert.on_conflict_do_update(index_elements=["conversation_id", "uid"], set_=said)


def _visible(scope: Scope) -> Select[Conversation]:
    owned = select(Conversation).where(Conversation.owner == scope.owner)
    return owned if scope.devices is None else owned.where(Conversation.device_id.in_(scope.devices))


async def _said(session: AsyncSession, conversation_ids: Sequence[str]) -> dict[str, tuple[int, str]]:
    """How many messages each conversation has, and the last one's text."""
    mine = Message.conversation_id.in_(conversation_ids)
    ends = select(func.count().label("count"), func.max(Message.id).label("last")).where(mine).group_by(Message.conversation_id).subquery()
    query = select(Message.conversation_id, ends.c.count, Message.content).join(ends, Message.id == ends.c.last)
    return {conversation_id: (count, content) for conversation_id, count, content in await session.execute(query)}


def _columns(message: AnyMessage) -> dict[str, Any]:
    """What the transcript keeps of a message: its words, its pictures by id, never bytes."""
    if message.id is None:
        raise ValueError("a message without an id cannot be written twice as one")
    return {
        "role": _ROLES.get(message.type, message.type),
        "content": str(message.text),
        "asset_ids": list(dict.fromkeys(_ASSET.findall(str(message.content)))),
        "tool_calls": (message.tool_calls or None) if isinstance(message, AIMessage) else None,
        "tool_name": message.name if isinstance(message, ToolMessage) else None,
        "error_type": message.additional_kwargs.get("error_type"),
    }
