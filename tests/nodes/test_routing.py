import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.state import FastAnalysisResult, Intent, Mode
from models.embedded.classifier.classifier import Facts, by_facts
from nodes.routing import executor_for, planning_words, should_enter_heavy_planning
from tests.eval.instructions import answer, turn

REQUESTS = Path(__file__).parents[1] / "models" / "classifier_requests.jsonl"


def analysis(intent: Intent) -> FastAnalysisResult:
    return FastAnalysisResult(**{**by_facts(Facts()).result, "intent": intent})  # type: ignore[typeddict-item]


def heavy(
    text: str, *, intent: Intent = "image_edit", images: int = 1, mode: str = "auto", skill_steps: bool = False
) -> tuple[bool, list[str]]:
    return should_enter_heavy_planning(turn(text, images), analysis(intent), mode=mode, skill_steps=skill_steps)


@pytest.mark.parametrize(
    "text", ["抠图", "去水印", "去背景", "换成白色背景", "把帽子换成草帽", "旁边加一个模特", "色调暖一点", "make it brighter"]
)
def test_plain_edits_are_light(text):
    assert heavy(text) == (False, [])


@pytest.mark.parametrize(
    ("text", "intent", "reason"),
    [
        ("批量去水印", "image_edit", "batch"),
        ("所有照片都换成白底", "image_edit", "all"),
        ("分别做成水彩和油画两版", "image_edit", "separately"),
        ("每张都裁成方的", "image_edit", "each"),
        ("画六格分镜", "image_gen", "storyboard"),
        ("九宫格海报", "image_gen", "nine_grid"),
        ("继续上一轮", "image_edit", "continue"),
        ("对比前一张，哪里变了", "vision", "compare"),
        ("crop each photo", "image_edit", "each"),
        ("process all of these", "image_edit", "all"),
        ("把这张转成3D模型", "image_gen", "3d"),
        ("上面两张都调亮", "image_edit", "several_images"),
    ],
)
def test_words_for_several_pictures_are_reasons(text, intent, reason):
    is_heavy, reasons = heavy(text, intent=intent)
    assert is_heavy
    assert reason in reasons


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("画一锅九宫格火锅", "image_gen"),
        ("把图片里的全部文字去掉", "image_edit"),
        ("去掉所有路人", "image_edit"),
        ("图里分别是什么花", "vision"),
        ("分镜是什么意思", "chat"),
        ("车票和会议分别是几点", "chat"),
        ("全部截图里花了多少钱", "chat"),
    ],
)
def test_the_same_words_about_something_else_are_none(text, intent):
    assert planning_words(text, intent) == []


def test_counts_modes_and_skills_are_reasons():
    assert heavy("换背景", images=2) == (True, ["several_images"])
    assert heavy("换背景", skill_steps=True) == (True, ["skill_steps"])
    assert [mode for mode in get_args(Mode) if heavy("换背景", mode=mode)[0]] == ["video", "3d", "batch", "variations"]


def test_requests_take_the_path_they_should():
    from models.embedded.classifier.classifier import EmbeddedClassifier

    rows = [json.loads(line) for line in REQUESTS.read_text("utf8").splitlines()]
    given_paths = [answer({"id": "", **row}, EmbeddedClassifier())["heavy"] for row in rows]
    wrong = [row["text"] for row, path in zip(rows, given_paths, strict=True) if path != row.get("heavy", False)]
    assert len(wrong) <= 0.03 * len(rows), wrong


@given(st.text(max_size=60), st.sampled_from(get_args(Intent)), st.integers(0, 4), st.sampled_from(get_args(Mode)), st.booleans())
def test_heavy_is_a_pure_function_and_always_has_a_reason(text, intent, images, mode, skill_steps):
    first = heavy(text, intent=intent, images=images, mode=mode, skill_steps=skill_steps)
    assert first == heavy(text, intent=intent, images=images, mode=mode, skill_steps=skill_steps)
    assert first[0] == bool(first[1])


def test_executors_are_named_like_intents_but_for_3d():
    assert [executor_for(intent) for intent in get_args(Intent)] == list(get_args(Intent))
    assert executor_for("image_gen", ["3d"]) == "model_3d"
    assert executor_for("chat", ["3d"]) == "chat"
