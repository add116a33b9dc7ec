"""The chat role over real clients: the openai client against the scripted provider, and the pool's last member."""

import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, SecretStr

from models.chat import ChatReply, ChatRole, chat_members
from models.embedded.chat.member import EmbeddedChat
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
    stall,
    status,
)
from tests.models.ledger import Ledger


class Query(BaseModel):
    query: str


TOOL = convert_to_openai_tool(StructuredTool(name="search_knowledge", description="search", args_schema=Query))


@asynccontextmanager
async def role(provider: ScriptedProvider) -> AsyncIterator[tuple[ChatRole, Ledger]]:
    ledger = Ledger()
    settings = ModelSettings(model="gpt-x", base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        members = chat_members(settings, embedded=EmbeddedChat, http=lambda: http)
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
    assert ledger.outcomes == [("gpt-x", "ok"), ("gpt-x", "ok")]
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
    assert (reply.member, reply.degraded, reply.error_type) == ("embedded", True, None)
    assert not str(reply.message.content).startswith("警告")
    assert [(attempt.member, attempt.outcome) for attempt in reply.attempts] == [("gpt-x", outcome)] * calls + [("embedded", "ok")]
    assert ledger.outcomes == [("gpt-x", outcome)] * calls


async def test_a_transient_failure_is_tried_once_more(provider: ScriptedProvider):
    provider.play(status(500), completion("好"))
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert (reply.message.content, reply.degraded) == ("好", False)
    assert ledger.outcomes == [("gpt-x", "transient"), ("gpt-x", "ok")]


async def test_a_model_that_hangs_leaves_time_for_the_next(provider: ScriptedProvider):
    provider.play(hang())
    async with role(provider) as (chat, ledger):
        reply = await ask(chat, seconds=1.0)
    assert (reply.member, reply.degraded) == ("embedded", True)
    assert ledger.outcomes == [("gpt-x", "timeout_ambiguous")]


async def test_an_unreachable_server_is_no_connection():
    with ScriptedProvider() as gone:
        pass
    async with role(gone) as (chat, ledger):
        reply = await ask(chat)
    assert reply.member == "embedded"
    assert ledger.outcomes == [("gpt-x", "timeout_connect")] * 2


@pytest.mark.parametrize(
    "failure",
    [safety_stop(), status(400, {"error": {"message": "DataInspectionFailed", "code": "data_inspection_failed"}})],
    ids=["finish_reason", "DataInspectionFailed"],
)
async def test_a_content_policy_stop_is_the_answer_and_no_other_model_is_asked(provider: ScriptedProvider, failure: Any):
    provider.play(failure)
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert (reply.error_type, ledger.outcomes) == ("content_policy", [("gpt-x", "content_policy")])
    assert str(reply.message.content).startswith("警告: ")


async def test_after_the_first_token_the_partial_answer_stays_with_an_offer_to_retry(provider: ScriptedProvider):
    provider.play(cut("今天的取件码是 1-2-3"))
    async with role(provider) as (chat, ledger):
        reply = await ask(chat)
    assert str(reply.message.content).startswith("今天的取件码是 1-2-3")
    assert "请重试" in str(reply.message.content)
    assert (reply.error_type, reply.member) == ("llm_error", "gpt-x")
    assert ledger.outcomes == [("gpt-x", "transient")]


async def test_a_stream_that_stalls_after_the_first_token_is_not_started_again(provider: ScriptedProvider):
    provider.play(stall("今天的取件码是"))
    async with role(provider) as (chat, ledger):
        reply = await ask(chat, seconds=0.8)
    assert str(reply.message.content).startswith("今天的取件码是")
    assert (reply.error_type, reply.member, ledger.outcomes) == ("timeout", "gpt-x", [("gpt-x", "timeout_ambiguous")])


async def test_a_refusal_in_the_middle_offers_no_retry(provider: ScriptedProvider):
    provider.play(completion("做法是", finish_reason="content_filter"))
    async with role(provider) as (chat, _):
        reply = await ask(chat)
    assert str(reply.message.content).startswith("做法是\n\n警告: 内容未通过")
    assert "重试" not in str(reply.message.content)
    assert reply.error_type == "content_policy"


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

    assert [member.name for member in chat_members(ModelSettings(), embedded=EmbeddedChat, http=never)] == ["embedded"]


def test_the_client_library_is_not_imported_in_the_event_loops_thread():
    program = """
import asyncio, sys, threading
from models.remote.openai_chat import chat_model
from settings import ModelSettings

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "langchain_openai":
            print(threading.current_thread() is threading.main_thread())

async def main():
    import httpx
    async with httpx.AsyncClient() as http:
        await chat_model(ModelSettings(model="m", base_url="http://127.0.0.1:9/v1"), http=lambda: http, seconds=1)()

sys.meta_path.insert(0, Watch())
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
