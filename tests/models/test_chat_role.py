"""The chat role over real clients: the openai client against the scripted provider, and the pool's last member."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, SecretStr

from models.chat import ChatReply, ChatRole, chat_members
from settings import ModelSettings
from tests.fakes.provider import (
    ScriptedProvider,
    call,
    completion,
    cut,
    empty_choices,
    hang,
    html_page,
    invalid_json,
    reset,
    safety_stop,
    status,
)


class Ledger:
    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    async def append(
        self, *, owner: str, turn_id: str, role: str, model: str, ms: float, outcome: str, asset_ids: Sequence[str] = ()
    ) -> None:
        self.rows.append((model, outcome))


class Query(BaseModel):
    query: str


TOOL = convert_to_openai_tool(StructuredTool(name="search_knowledge", description="search", args_schema=Query))


class LastMember(FakeListChatModel):
    """A model that needs no network, as the embedded one."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self


@asynccontextmanager
async def role(provider: ScriptedProvider) -> AsyncIterator[tuple[ChatRole, Ledger]]:
    ledger = Ledger()
    settings = ModelSettings(model="gpt-x", base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        members = chat_members(settings, embedded=lambda: LastMember(responses=["内置回答"]), http=lambda: http)
        yield ChatRole(members, ledger=ledger), ledger


async def ask(chat: ChatRole, question: str = "你好", *, tools: Sequence[dict[str, Any]] = (), seconds: float = 20) -> ChatReply:
    return await chat.chat([HumanMessage(question)], tools=tools, owner="local", turn_id="t", model="", seconds=seconds)


async def test_a_streamed_answer_with_parallel_tool_calls(provider: ScriptedProvider):
    provider.play(
        completion(tool_calls=[call("search_knowledge", "a", query="猫"), call("search_knowledge", "b", query="狗")]), completion("找到了")
    )
    async with role(provider) as (chat, ledger):
        first = await ask(chat, tools=[TOOL])
        second = await ask(chat, tools=[TOOL])
    assert [(c["id"], c["args"]) for c in first.message.tool_calls] == [("a", {"query": "猫"}), ("b", {"query": "狗"})]
    assert (second.message.content, second.member, second.degraded) == ("找到了", "gpt-x", False)
    assert ledger.rows == [("gpt-x", "ok"), ("gpt-x", "ok")]
    assert provider.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert provider.requests[0].json["tools"][0]["function"]["name"] == "search_knowledge"


@pytest.mark.parametrize(
    ("failure", "outcome", "calls"),
    [
        (status(401), "auth_quota", 1),
        (status(402), "auth_quota", 1),
        (status(403), "auth_quota", 1),
        (status(404), "model_not_found", 1),
        (status(400, {"error": {"message": "Unsupported model version"}}), "model_not_found", 1),
        (status(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}), "capability", 1),
        (status(429), "rate_limited", 1),
        (status(429, headers={"retry-after": "60"}), "rate_limited", 1),
        (status(429, headers={"retry-after": "0"}), "rate_limited", 2),
        (status(429, {"error": {"message": "You exceeded your quota: insufficient_quota"}}), "auth_quota", 1),
        (status(500), "transient", 2),
        (status(502), "transient", 2),
        (status(503), "capacity", 1),
        (status(529), "capacity", 1),
        (reset(), "transient", 2),
        (invalid_json(), "empty_result", 2),
        (html_page(), "empty_result", 2),
        (empty_choices(), "empty_result", 2),
        (completion(""), "empty_result", 2),
    ],
    ids=str,
)
async def test_a_failure_before_the_first_token_goes_to_the_next_model(provider: ScriptedProvider, failure: Any, outcome: str, calls: int):
    provider.play(*[failure] * 3)
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert (reply.message.content, reply.member, reply.degraded, reply.error_type) == ("内置回答", "embedded", True, None)
    assert ledger.rows == [("gpt-x", outcome)] * calls


async def test_a_transient_failure_is_tried_once_more(provider: ScriptedProvider):
    provider.play(status(500), completion("好"))
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert (reply.message.content, reply.degraded) == ("好", False)
    assert ledger.rows == [("gpt-x", "transient"), ("gpt-x", "ok")]


async def test_a_model_that_hangs_leaves_time_for_the_next(provider: ScriptedProvider):
    provider.play(hang())
    async with role(provider) as (chat, ledger):
        reply = await ask(chat, seconds=1.0)
    assert (reply.message.content, reply.member) == ("内置回答", "embedded")
    assert ledger.rows == [("gpt-x", "timeout_ambiguous")]


async def test_an_unreachable_server_is_no_connection():
    with ScriptedProvider() as gone:
        pass
    async with role(gone) as (chat, ledger):
        reply = await ask(chat)
    assert reply.member == "embedded"
    assert ledger.rows == [("gpt-x", "timeout_connect")] * 2


@pytest.mark.parametrize(
    "failure",
    [safety_stop(), status(400, {"error": {"message": "DataInspectionFailed", "code": "data_inspection_failed"}})],
    ids=["finish_reason", "DataInspectionFailed"],
)
async def test_a_content_policy_stop_is_the_answer_and_no_other_model_is_asked(provider: ScriptedProvider, failure: Any):
    provider.play(failure)
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert (reply.error_type, ledger.rows) == ("content_policy", [("gpt-x", "content_policy")])
    assert str(reply.message.content).startswith("警告: ")


async def test_after_the_first_token_the_partial_answer_stays_with_an_offer_to_retry(provider: ScriptedProvider):
    provider.play(cut("今天的取件码是 1-2-3"))
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert str(reply.message.content).startswith("今天的取件码是 1-2-3")
    assert "请重试" in str(reply.message.content)
    assert (reply.error_type, reply.member) == ("llm_error", "gpt-x")
    assert ledger.rows == [("gpt-x", "transient")]


async def test_no_secret_reaches_the_words_of_an_error(provider: ScriptedProvider):
    provider.play(status(400, {"error": {"message": "content_policy: key sk-secret at /srv/app.py"}}))
    async with role(provider) as (chat, _):
        reply = await ask(chat, "tell me")
    text = str(reply.message.content)
    assert text.startswith("Warning: ")
    assert "sk-secret" not in text
    assert "/srv" not in text


def test_without_a_configured_model_the_pool_holds_only_the_embedded_member():
    def never() -> httpx.AsyncClient:
        raise AssertionError("no client is needed")

    def embedded() -> BaseChatModel:
        return LastMember(responses=[])

    assert [member.name for member in chat_members(ModelSettings(), embedded=embedded, http=never)] == ["embedded"]
