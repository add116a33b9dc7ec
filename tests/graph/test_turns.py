"""Turns through the whole graph with the real embedded engines."""

import asyncio
import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from graph.services import Services
from memory.context import ChatContext
from memory.scope import Scope
from server.turn import TurnResult, Turns

CONTEXT = ChatContext(tz="Asia/Shanghai", now="2026-11-30T20:00:00+08:00")


def nodes(result: TurnResult) -> list[str]:
    return [entry["node"] for entry in result.trace]


def decided(result: TurnResult, node: str) -> str:
    return next(entry["decision"] for entry in result.trace if entry["node"] == node)


def picture(*, size: tuple[int, int] = (320, 200), colour: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def part(data: bytes, mime_type: str = "image/png") -> dict[str, str]:
    return {"type": "file", "mime_type": mime_type, "data": base64.b64encode(data).decode(), "filename": "a.png"}


async def test_a_question_is_answered_with_the_right_screenshot_cited(turns: Turns):
    result = await turns.run(text="我的取件码是多少", context=CONTEXT)
    assert "5-2-8043" in result.text
    assert result.citations == [1]
    assert "[截图#1]" in result.text
    assert list(dict.fromkeys(nodes(result))) == [
        "resolve_media", "recall", "classify", "resolve_targets", "route", "light", "dispatch",
        "agent", "search_knowledge", "answer", "collect", "reply", "remember",
    ]  # fmt: skip


async def test_an_english_question_finds_a_chinese_screenshot(turns: Turns):
    result = await turns.run(text="What time does my train leave?", context=CONTEXT)
    assert "08:12" in result.text
    assert result.citations[:1] == [2]


async def test_recent_screenshots_come_newest_first(turns: Turns):
    result = await turns.run(text="最近两张截图", context=CONTEXT)
    assert result.citations == [3, 1]
    assert [call["name"] for call in result.tool_calls] == ["get_recent"]


async def test_what_is_not_there_is_said_not_to_be_found_and_cites_nothing(turns: Turns):
    result = await turns.run(text="护照有效期到哪天", context=CONTEXT)
    assert "没有找到" in result.text or "没找到" in result.text
    assert result.citations == []


async def test_live_information_without_a_provider_says_what_to_configure(turns: Turns):
    result = await turns.run(text="上网搜一下今天的美元汇率", context=CONTEXT)
    assert [call["name"] for call in result.tool_calls][:1] == ["web_search"]
    assert "TAVILY_API_KEY" in result.text


async def test_another_owner_sees_nothing(turns: Turns):
    result = await turns.run(text="我的取件码是多少", context=ChatContext(owner="someone", tz="Asia/Shanghai", now=CONTEXT.now))
    assert result.citations == []
    assert "5-2-8043" not in result.text


@pytest.mark.parametrize(("text", "executor"), [("把背景换成白色", "image_edit"), ("画一只戴帽子的猫", "image_gen")])
async def test_what_the_build_cannot_do_is_answered_honestly(turns: Turns, text: str, executor: str):
    parts = [part(picture())] if executor == "image_edit" else []
    result = await turns.run(text=text, context=CONTEXT, parts=parts)
    assert "当前版本还不能" in result.text
    assert [(step["executor"]) for step in result.state["plan"]] == [executor]
    assert "agent" not in nodes(result)


async def test_a_picture_is_answered_by_what_can_be_counted_and_its_limits_are_named(turns: Turns):
    result = await turns.run(text="这张图多大，主要是什么颜色？", context=CONTEXT, parts=[part(picture())])
    assert "320 × 200" in result.text
    assert "红色" in result.text
    assert "没有配置视觉模型" in result.text
    assert "vision" in nodes(result)


async def test_two_pictures_are_heavy_and_the_conservative_chain_says_so(turns: Turns):
    result = await turns.run(text="这两张图有什么不同", context=CONTEXT, parts=[part(picture()), part(picture(colour="blue"))])
    assert decided(result, "route") == "heavy"
    assert result.state["route"]["reasons"] == ["several_images"]
    assert decided(result, "heavy").startswith("conservative chain")
    assert "红色" in result.text
    assert "蓝色" in result.text


async def test_one_bad_part_is_named_and_does_not_fail_the_turn(turns: Turns):
    broken = part(picture()[:60])
    result = await turns.run(text="这张图是什么颜色", context=CONTEXT, parts=[part(picture()), broken])
    assert "红色" in result.text
    assert "附件没能使用" in result.text
    assert [problem["code"] for problem in result.state["input"]["problems"]] == ["corrupt"]


async def test_no_bytes_are_in_state_checkpoint_or_transcript(turns: Turns, services: Services):
    data = picture(size=(640, 480))
    result = await turns.run(text="这是什么", context=CONTEXT, parts=[part(data)], conversation_id="abc1")
    encoded = base64.b64encode(data)[:120]
    folder: Path = services.settings.data_dir
    files = await asyncio.to_thread(lambda: {file.name: file.read_bytes() for file in folder.glob("*.db*")})
    assert {"evatar.db", "checkpoints.db"} <= set(files)
    assert [name for name, content in files.items() if encoded in content] == []
    assert "asset://" in str(result.state["messages"][0].content)


async def test_a_conversation_keeps_its_transcript_and_a_history_of_constant_size(turns: Turns, services: Services):
    for number in range(14):
        await turns.run(text=f"最近{number + 1}张截图", context=CONTEXT, conversation_id="c0ffee")
    result = await turns.run(text="我的取件码是多少", context=CONTEXT, conversation_id="c0ffee")
    assert len(result.state["messages"]) == 20
    assert result.state["messages"][0].type == "human"
    transcript = await services.conversations.messages("c0ffee", scope=Scope("local"))
    assert [message.role for message in transcript] == ["user", "assistant"] * 15
    assert result.state["working_memory"]["last_intent"] == "chat"


@pytest.mark.parametrize(
    "text", ['"支付宝" OR 1=1 --', "* NEAR(code, 3) ^ (", "'); DROP TABLE photos;--", "🍊🧣", "%", "_", "\x00", "订单" * 2000]
)
async def test_no_input_raises_or_acts_as_a_wildcard(turns: Turns, text: str):
    result = await turns.run(text=text, context=CONTEXT)
    assert result.error_type is None
    assert result.text


async def test_a_text_file_is_read_out_and_its_note_is_no_question(turns: Turns):
    attached = {**part("第三季度复盘：销量 120 台".encode(), "text/plain"), "filename": "notes.txt"}
    result = await turns.run(text="里面写了什么", context=CONTEXT, parts=[attached])
    assert "销量 120 台" in result.text
    assert result.state["analysis"]["intent"] == "chat"
    assert result.tool_calls == []
