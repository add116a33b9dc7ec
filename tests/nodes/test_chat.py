import asyncio
import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from memory.context import ChatContext
from nodes.chat import answer, call_tool, dangling, given_ids, keep_given_citations, said_before, to_tools

NODES = {"search_knowledge": "search_knowledge", "get_recent": "recent_screenshots"}


def call(name: str, call_id: str, **args: object) -> dict[str, object]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def asked(*calls: dict[str, object]) -> AIMessage:
    return AIMessage("", tool_calls=list(calls))


def runtime() -> Runtime[ChatContext]:
    return Runtime(context=ChatContext())


def test_one_send_per_distinct_call_and_identical_calls_share_one():
    sends = to_tools(
        {
            "scratch": [
                asked(call("search_knowledge", "1", query="a"), call("search_knowledge", "2", query="a"), call("get_recent", "3", limit=2))
            ]
        },
        tool_nodes=NODES,
    )
    assert [(send.node, [c["id"] for c in send.arg["calls"]]) for send in sends] == [
        ("search_knowledge", ["1", "2"]),
        ("recent_screenshots", ["3"]),
    ]


def test_only_unknown_tools_go_back_to_the_model_with_an_answer_for_each():
    scratch = [asked(call("rm_rf", "1"))]
    assert to_tools({"scratch": scratch}, tool_nodes=NODES) == "agent"
    (repair,) = dangling(scratch, known=NODES)
    assert (repair.tool_call_id, json.loads(str(repair.content))["error"]) == ("1", "unknown_tool")
    assert dangling([*scratch, repair], known=NODES) == []


def test_a_message_without_calls_is_the_answer():
    assert to_tools({"scratch": [AIMessage("好")]}, tool_nodes=NODES) == "answer"


async def test_an_identical_call_of_the_turn_is_answered_from_its_cache():
    first = call("search_knowledge", "1", query="a")
    scratch = [asked(first), ToolMessage('{"hits": []}', tool_call_id="1", name="search_knowledge")]

    async def run(*_: object) -> str:
        raise AssertionError("the tool ran again")

    out = await call_tool(
        {"calls": [call("search_knowledge", "9", query="a")], "scratch": scratch}, runtime(), run=run, seconds=1, node="search_knowledge"
    )
    assert [(m.tool_call_id, m.content) for m in out["scratch"]] == [("9", '{"hits": []}')]
    assert out["trace"][0]["by"] == "cache"
    assert said_before([call("search_knowledge", "9", query="b")], scratch) is None


async def test_a_tool_that_hangs_is_an_answer_of_kind_timeout():
    async def run(*_: object) -> str:
        await asyncio.Event().wait()
        return ""

    out = await call_tool({"calls": [call("get_recent", "1")], "scratch": []}, runtime(), run=run, seconds=0.01, node="recent_screenshots")
    message = out["scratch"][0]
    assert (message.status, json.loads(message.content)["error"]) == ("error", "timeout")


async def test_wrong_arguments_go_back_to_the_model_naming_the_field():
    class Arguments(BaseModel):
        query: str

    async def run(_: str, args: dict[str, object], __: ChatContext) -> str:
        return Arguments.model_validate(args).query

    out = await call_tool({"calls": [call("search_knowledge", "1")], "scratch": []}, runtime(), run=run, seconds=1, node="search_knowledge")
    assert json.loads(out["scratch"][0].content)["error"] == "bad_arguments"
    assert "query" in out["scratch"][0].content


@pytest.mark.parametrize(
    ("text", "kept", "cited"),
    [
        ("今天取件 [截图#3]。", "今天取件 [截图#3]。", [3]),
        ("见 [截图#3] 和 [截图#9]", "见 [截图#3] 和", [3]),
        ("[截图#4][截图#3][截图#4]", "[截图#4][截图#3][截图#4]", [4, 3]),
        ("没有引用", "没有引用", []),
    ],
)
def test_citations_of_ids_the_tools_did_not_give_are_removed(text: str, kept: str, cited: list[int]):
    assert keep_given_citations(text, {3, 4}) == (kept, cited)


async def test_the_answer_is_the_last_message_with_only_given_citations():
    hits = json.dumps({"hits": [{"id": 7}]})
    scratch = [
        asked(call("get_recent", "1", limit=1)),
        ToolMessage(hits, tool_call_id="1", name="get_recent"),
        AIMessage("第一张 [截图#7] [截图#8]"),
    ]
    assert given_ids(scratch) == {7}
    out = await answer({"scratch": scratch, "step": {"id": "s1"}, "messages": [HumanMessage("最近")]})  # type: ignore[typeddict-item]
    (result,) = out["results"]
    assert (result["status"], result["citations"], result["text"]) == ("done", [7], "第一张 [截图#7]")
    assert result["tool_calls"] == [{"name": "get_recent", "args": {"limit": 1}}]


async def test_an_empty_answer_says_that_it_timed_out():
    out = await answer({"scratch": [AIMessage("")], "step": {"id": "s1"}})  # type: ignore[typeddict-item]
    assert out["results"][0]["text"] == "抱歉，处理超时，请重试。"
