from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from nodes.remember import beyond_limit


@given(st.lists(st.booleans(), max_size=60), st.integers(2, 20))
def test_history_keeps_at_most_the_limit_and_begins_at_a_users_turn(is_user: list[bool], limit: int):
    messages: list[AnyMessage] = [HumanMessage("q") if user else AIMessage("a") for user in is_user]
    kept = messages[len(beyond_limit(messages, limit)) :]
    if any(isinstance(m, HumanMessage) for m in messages[-limit:]):
        assert len(kept) <= limit
        assert isinstance(kept[0], HumanMessage)
    else:
        assert kept == messages
