"""Turns with a configured model, played by the scripted provider."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.services import Services
from memory.checkpoints import open_saver
from memory.context import ChatContext
from memory.scope import Scope
from server.events import Token, Translator
from server.turn import Turns
from settings import ModelSettings, Settings
from tests.fakes.provider import ScriptedProvider, call, completion, hang, status
from tests.library import PARCEL, add

CONTEXT = ChatContext(tz="Asia/Shanghai", now="2026-11-30T20:00:00+08:00")
MODEL = "gpt-x"


@asynccontextmanager
async def with_model(provider: ScriptedProvider, folder: Path) -> AsyncIterator[tuple[Turns, Services]]:
    model = ModelSettings(model=MODEL, base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    settings = Settings(data_dir=folder / "data", timezone="Asia/Shanghai", ocr_workers=1, chat=model)
    async with Services.open(settings) as services, open_saver(settings) as saver:
        await add(services, PARCEL)
        yield Turns(services=services, saver=saver), services


async def test_tools_are_called_and_the_answer_streams_with_only_given_citations(provider: ScriptedProvider, tmp_path: Path):
    provider.play(
        completion(tool_calls=[call("search_knowledge", "a", query="取件码"), call("get_recent", "b", limit=50)]),
        completion("取件码是 5-2-8043 [截图#1]，另见 [截图#99]"),
    )
    tokens: list[str] = []
    translator = Translator()

    def hear(part: dict[str, Any]) -> None:
        tokens.extend(event.text for event in translator.events(part) if isinstance(event, Token))

    async with with_model(provider, tmp_path) as (turns, services):
        result = await turns.run(text="取件码？", context=CONTEXT, on_part=hear)
        attempts = await services.attempts.of_turn(result.state["turn_id"], scope=Scope("local"))
    assert (result.text, result.citations) == ("取件码是 5-2-8043 [截图#1]，另见", [1])
    assert len(tokens) > 2
    assert "".join(tokens).startswith("取件码是")
    assert [(attempt.model, attempt.outcome) for attempt in attempts] == [(MODEL, "ok")] * 2

    first, second = (request.json for request in provider.requests)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["search_knowledge", "search_multi", "get_recent", "web_search"]
    assert "search_knowledge — 用核心关键词搜索" in first["messages"][0]["content"]
    assert "2026-11-30" in first["messages"][0]["content"]
    results = [json.loads(message["content"]) for message in second["messages"] if message["role"] == "tool"]
    assert {item["tool"] for item in results} == {"search_knowledge", "get_recent"}
    assert all(item["hits"][0]["id"] == 1 for item in results)


async def test_the_last_round_gets_no_tools(provider: ScriptedProvider, tmp_path: Path):
    again = completion(tool_calls=[call("search_knowledge", "x", query="没有的")])
    provider.play(again, again, completion("没找到"))
    async with with_model(provider, tmp_path) as (turns, _):
        result = await turns.run(text="找一下", context=CONTEXT)
    assert result.text == "没找到"
    assert ["tools" in request.json for request in provider.requests] == [True, True, False]
    assert [entry["by"] for entry in result.trace if entry["node"] == "search_knowledge"] == ["tool", "cache"]


async def test_a_model_that_only_calls_tools_ends_with_the_agreed_sentence(provider: ScriptedProvider, tmp_path: Path):
    again = completion(tool_calls=[call("search_knowledge", "x", query="取件码")])
    provider.play(again, again, again)
    async with with_model(provider, tmp_path) as (turns, _):
        result = await turns.run(text="找一下", context=CONTEXT)
    assert result.text == "抱歉，处理超时，请重试。"


async def test_a_failing_model_is_replaced_by_the_embedded_one_which_says_so(provider: ScriptedProvider, tmp_path: Path):
    provider.play(*[status(401)] * 4)
    async with with_model(provider, tmp_path) as (turns, _):
        result = await turns.run(text="我的取件码是多少", context=CONTEXT)
    assert "5-2-8043" in result.text
    assert (result.degraded, result.citations) == (True, [1])
    assert "内置引擎" in result.text
    rounds = [entry["detail"]["attempts"] for entry in result.trace if entry["node"] == "agent"]
    assert {tuple(attempt["member"] for attempt in attempts) for attempts in rounds} == {(MODEL, "embedded")}
    assert {attempts[0]["outcome"] for attempts in rounds} == {"auth_quota"}


async def test_wrong_arguments_and_unknown_tools_go_back_to_the_model(provider: ScriptedProvider, tmp_path: Path):
    provider.play(completion(tool_calls=[call("get_recent", "a", limit="many"), call("format_disk", "b")]), completion("好的"))
    async with with_model(provider, tmp_path) as (turns, _):
        result = await turns.run(text="最近", context=CONTEXT)
    answers = {m["tool_call_id"]: json.loads(m["content"])["error"] for m in provider.requests[1].json["messages"] if m["role"] == "tool"}
    assert answers == {"a": "bad_arguments", "b": "unknown_tool"}
    assert result.text == "好的"


async def test_the_message_is_stored_before_the_model_answers(provider: ScriptedProvider, tmp_path: Path):
    provider.play(hang())
    async with with_model(provider, tmp_path) as (turns, services):
        task = asyncio.create_task(turns.run(text="在吗", context=CONTEXT, conversation_id="abc"))
        await provider.received(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stored = await services.conversations.messages("abc", scope=Scope("local"))
    assert [(message.role, message.content) for message in stored] == [("user", "在吗")]


async def test_earlier_turns_go_along_as_plain_text(provider: ScriptedProvider, tmp_path: Path):
    provider.play(completion("你好！"), completion("5-2-8043"))
    async with with_model(provider, tmp_path) as (turns, _):
        await turns.run(text="你好呀", context=CONTEXT, conversation_id="abc")
        await turns.run(text="取件码呢", context=CONTEXT, conversation_id="abc")
    said = [(message["role"], message["content"]) for message in provider.requests[1].json["messages"][1:]]
    assert said == [("user", "你好呀"), ("assistant", "你好！"), ("user", "取件码呢")]
