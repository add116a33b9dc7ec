import re
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from sqlalchemy import func, select

from memory.attempts import Attempts
from memory.conversations import Conversations
from memory.database import Database
from memory.scope import Scope
from memory.tables import Message
from tests.memory.library import NOW, Clock

ANN, BOB = Scope("ann"), Scope("bob")
ID = "00c0ffee00c0ffee"


@pytest.fixture
def conversations(db: Database) -> Conversations:
    return Conversations(db)


async def record(
    conversations: Conversations, *messages: AnyMessage, conversation_id: str = ID, owner: str = "ann", minute: int = 0
) -> None:
    await conversations.record(owner=owner, conversation_id=conversation_id, messages=messages, at=NOW + timedelta(minutes=minute))


async def test_a_new_conversation_has_an_id_of_16_hexadecimal_digits(conversations: Conversations) -> None:
    conversation_id = await conversations.create(owner="ann", at=NOW, device_id="phone", tz="Asia/Shanghai")
    assert re.fullmatch("[a-f0-9]{16}", conversation_id)
    found = await conversations.get(conversation_id, scope=Scope("ann", devices=("phone",)))
    assert found is not None
    assert (found.tz, found.title) == ("Asia/Shanghai", "")


async def test_the_transcript_is_kept_in_order_and_read_from_a_message_on(conversations: Conversations) -> None:
    await record(conversations, HumanMessage("昨天的外卖多少钱", id="u1"), AIMessage("32 元", id="a1"))
    await record(conversations, HumanMessage("前天呢", id="u2"))
    said = await conversations.messages(ID, scope=ANN)
    assert [(row.uid, row.role, row.content) for row in said] == [
        ("u1", "user", "昨天的外卖多少钱"),
        ("a1", "assistant", "32 元"),
        ("u2", "user", "前天呢"),
    ]
    assert [row.uid for row in await conversations.messages(ID, scope=ANN, after_id=said[1].id)] == ["u2"]


async def test_a_message_written_twice_is_one(conversations: Conversations) -> None:
    question = HumanMessage("在吗", id="u1")
    await record(conversations, question)
    [first] = await conversations.messages(ID, scope=ANN)
    await record(conversations, question, AIMessage("在", id="a1"), minute=1)
    await record(conversations, AIMessage("在的", id="a1"), minute=2)
    said = await conversations.messages(ID, scope=ANN)
    assert [row.content for row in said] == ["在吗", "在的"]
    assert (said[0].id, said[0].created_at) == (first.id, first.created_at)


async def test_what_is_kept_of_a_message(conversations: Conversations) -> None:
    await record(
        conversations,
        HumanMessage([{"type": "text", "text": "看这张"}, {"type": "image", "url": "asset://a1b2"}], id="u1"),
        AIMessage("", id="a1", tool_calls=[{"name": "get_recent", "args": {"limit": 3}, "id": "t", "type": "tool_call"}]),
        ToolMessage("[]", id="t1", tool_call_id="t", name="get_recent"),
        AIMessage("警告: 超时", id="a2", additional_kwargs={"error_type": "timeout"}),
    )
    user, call, tool, failed = await conversations.messages(ID, scope=ANN)
    assert (user.content, user.asset_ids) == ("看这张", ["a1b2"])
    assert call.tool_calls is not None
    assert call.tool_calls[0]["name"] == "get_recent"
    assert (tool.role, tool.tool_name, tool.tool_calls) == ("tool", "get_recent", None)
    assert failed.error_type == "timeout"


async def test_the_title_is_how_the_first_question_begins(conversations: Conversations) -> None:
    await record(conversations, AIMessage("你好", id="a0"), HumanMessage("帮我\n 找 " + "长" * 80, id="u1"))
    await record(conversations, HumanMessage("另一个问题", id="u2"))
    found = await conversations.get(ID, scope=ANN)
    assert found is not None
    assert found.title == ("帮我 找 " + "长" * 80)[:50]


async def test_conversations_are_listed_last_used_first(conversations: Conversations) -> None:
    await record(conversations, HumanMessage("一", id="u1"), conversation_id="a1", minute=1)
    await record(conversations, HumanMessage("二", id="u1"), AIMessage("答", id="a1"), conversation_id="b2", minute=2)
    await record(conversations, HumanMessage("三", id="u2"), conversation_id="a1", minute=3)
    summaries = await conversations.list(scope=ANN)
    assert [(row.conversation.id, row.message_count, row.last_message) for row in summaries] == [("a1", 2, "三"), ("b2", 2, "答")]
    assert [row.conversation.id for row in await conversations.list(scope=ANN, page=2, page_size=1)] == ["b2"]


async def test_another_owner_sees_and_writes_nothing(conversations: Conversations) -> None:
    await record(conversations, HumanMessage("秘密", id="u1"))
    for outside in (BOB, Scope("ann", devices=("phone",))):
        assert await conversations.get(ID, scope=outside) is None
        assert await conversations.list(scope=outside) == []
        assert await conversations.messages(ID, scope=outside) == []
        assert not await conversations.delete(ID, scope=outside)
    with pytest.raises(LookupError):
        await record(conversations, HumanMessage("改写", id="u1"), owner="bob")
    assert [row.content for row in await conversations.messages(ID, scope=ANN)] == ["秘密"]


@pytest.mark.parametrize("malformed", ["", "xyz", "A1", "a" * 65, "a1\n", "../a"])
async def test_a_malformed_id_is_refused(sqlite_db: Database, malformed: str) -> None:
    with pytest.raises(ValueError, match="conversation id"):
        await record(Conversations(sqlite_db), HumanMessage("x", id="u"), conversation_id=malformed)


async def test_a_message_without_an_id_is_refused(sqlite_db: Database) -> None:
    with pytest.raises(ValueError, match="without an id"):
        await record(Conversations(sqlite_db), HumanMessage("x"))


async def test_deleting_takes_the_transcript_along(conversations: Conversations, db: Database) -> None:
    await record(conversations, HumanMessage("删我", id="u1"))
    assert await conversations.delete(ID, scope=ANN)
    assert await conversations.get(ID, scope=ANN) is None
    async with db.session() as session:
        assert await session.scalar(select(func.count()).select_from(Message)) == 0


async def test_attempts_are_read_by_turn_and_owner(db: Database) -> None:
    attempts = Attempts(db, clock=Clock())
    for turn, outcome in (("t1", "timeout"), ("t2", "ok"), ("t1", "ok")):
        await attempts.append(owner="ann", turn_id=turn, role="chat", model="m", ms=12.5, outcome=outcome, asset_ids=["a"])
    assert [(row.outcome, row.asset_ids) for row in await attempts.of_turn("t1", scope=ANN)] == [("timeout", ["a"]), ("ok", ["a"])]
    assert await attempts.of_turn("t1", scope=BOB) == []
