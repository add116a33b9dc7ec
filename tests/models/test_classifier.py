import json
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.state import Intent, Mode, SubIntent
from models.embedded.classifier.classifier import EmbeddedClassifier, Facts, Verdict, normalise
from models.embedded.classifier.model import MODEL_FILE, features, load_model
from models.embedded.classifier.rules import load_rules

REQUESTS = [json.loads(line) for line in (Path(__file__).with_name("classifier_requests.jsonl")).read_text("utf8").splitlines()]
NOTHING = Facts()
PICTURE = Facts(n_images=1)
EARLIER = Facts(n_history=1, has_last_result=True)


def classify(text: str, facts: Facts = NOTHING) -> Verdict:
    return EmbeddedClassifier().classify(text, facts)


def kind(text: str, facts: Facts = NOTHING) -> tuple[str, str | None]:
    result = classify(text, facts).result
    return result["intent"], result["sub_intent"]


def facts_of(row: dict[str, Any]) -> Facts:
    return Facts(
        n_images=row["n_images"],
        n_history=row.get("history_images", 0),
        has_last_result=row.get("has_last_result", False),
        mode=row.get("mode", "auto"),
        skill=row.get("skill", ""),
    )


def test_requests_as_people_type_them():
    wrong = [row["text"] for row in REQUESTS if kind(row["text"], facts_of(row)) != (row["intent"], row.get("sub_intent"))]
    assert len(wrong) <= 0.03 * len(REQUESTS), wrong


def test_an_exact_command_rule_is_right_in_98_of_100_cases():
    outcomes = defaultdict(list)
    for row in REQUESTS:
        verdict = classify(row["text"], facts_of(row))
        if verdict.exact_command:
            outcomes[verdict.by].append((verdict.result["intent"], verdict.result["sub_intent"]) == (row["intent"], row.get("sub_intent")))
    assert outcomes
    assert {name: sum(right) / len(right) for name, right in outcomes.items() if sum(right) / len(right) < 0.98} == {}


@pytest.mark.parametrize("text", ["抠图", "remove the background", "Remove the background, please!", "帮我去水印", "再来一张", "谢谢老师"])
def test_plain_commands_say_that_they_are_exact(text):
    verdict = classify(text, EARLIER)
    assert verdict.exact_command
    assert verdict.by.startswith("exact_command:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("这张图背景是什么颜色", "vision"),
        ("水印是什么时候加的？", "vision"),
        ("does the background look blurred to you?", "vision"),
        ("能把背景换成白色吗", "image_edit"),
        ("could you blur the background?", "image_edit"),
        ("太暗了，可以亮一点吗", "image_edit"),
    ],
)
def test_a_question_about_a_picture_is_vision_and_a_polite_order_is_an_edit(text, expected):
    assert kind(text, PICTURE)[0] == expected


@pytest.mark.parametrize(
    "text", ["昨天截了哪些图", "快递到哪了", "how much was the dentist", "橙", "A-12-0071", "'; DROP TABLE x;--", "🦊", "去苏州的火车几点"]
)
@pytest.mark.parametrize("facts", [NOTHING, EARLIER])
def test_the_screenshot_library_is_talk_even_when_pictures_were_edited_before(text, facts):
    assert kind(text, facts) == ("chat", None)


def test_the_same_words_in_traditional_script_mean_the_same():
    for text in ("把背景換成藍色", "這張圖裡有幾個人", "畫一隻貓", "讓它動起來"):
        assert kind(text, PICTURE) == kind(normalise(text), PICTURE)


def test_facts_override_words():
    assert classify("把这张调亮", NOTHING).result["clarification_reason"] == "no_image"
    assert classify("图里有几只猫", NOTHING).result["intent"] == "chat"
    assert classify("再来一张", EARLIER).result["sub_intent"] == "redo"
    assert classify("再来一张", PICTURE).result["sub_intent"] is None
    assert classify("画一只戴围巾的水獭", Facts(n_images=1, n_history=3)).result["intent"] == "image_gen"


def test_text_is_replaced_by_an_edit_and_explained_by_vision():
    assert kind("把文字翻译成英文", PICTURE) == ("image_edit", "inpaint")
    assert kind("翻译图里的文字", PICTURE) == ("vision", None)


@pytest.mark.parametrize("text", ["撤销", "回到上一版", "用原图吧", "undo that", "revert to the original"])
def test_going_back_is_an_edit_without_a_sub_intent(text):
    verdict = classify(text, EARLIER)
    assert (verdict.result["intent"], verdict.result["sub_intent"], verdict.by) == ("image_edit", None, "restore")


def test_a_3d_model_is_generated_and_a_3d_style_is_a_style():
    assert classify("把这张做成3D模型", PICTURE).by == "3d"
    assert kind("做成3D卡通风格", PICTURE) == ("image_edit", "style_transfer")


def test_a_chain_takes_its_first_order():
    assert kind("抠图然后换成白底再裁成1:1", PICTURE) == ("image_edit", "remove_background")


def test_the_mode_decides_where_words_do_not():
    assert kind("树叶轻轻飘", Facts(n_images=1, mode="video"))[0] == "video_gen"
    assert kind("谢谢", Facts(n_images=1, mode="video"))[0] == "chat"


def test_route_hints_follow_the_intent():
    assert classify("这是什么花", PICTURE).result["route_hints"]["prefer_vision_model"]
    assert classify("抠图", PICTURE).result["route_hints"]["prefer_edit_model"]
    assert classify("让它动起来", PICTURE).result["route_hints"]["prefer_video_planner"]


any_facts = st.builds(
    Facts,
    n_images=st.integers(0, 10),
    n_history=st.integers(0, 5),
    has_last_result=st.booleans(),
    mode=st.sampled_from(get_args(Mode)),
    skill=st.sampled_from(["", "storyboard-video", "summarize"]),
)
request_words = st.lists(st.sampled_from(sorted({row["text"] for row in REQUESTS})), max_size=3).map(" ".join)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=200), request_words), any_facts)
def test_every_text_gets_a_valid_result_that_fits_the_facts(text, facts):
    result = classify(text, facts).result
    assert result["intent"] in get_args(Intent)
    assert result["sub_intent"] is None or result["intent"] == "image_edit"
    assert result["sub_intent"] in (None, *get_args(SubIntent))
    assert result["needs_clarification"] == (result["clarification_reason"] is not None)
    assert result["sub_intent"] != "redo" or facts.has_last_result
    assert result["intent"] != "vision" or facts.candidate
    assert result["intent"] != "image_edit" or facts.candidate or result["clarification_reason"] == "no_image"
    assert classify(text, facts).result == result


def test_all_rules_load_and_are_named_once():
    groups = load_rules().groups
    for name, rules in groups.items():
        assert len({rule.name for rule in rules}) == len(rules), name


def test_the_learned_model_knows_every_intent_and_gives_shares():
    shares = load_model().probabilities("sharpen it", ("attached",))
    assert {label.intent for label in shares} == set(get_args(Intent))
    assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    assert max(shares, key=lambda label: shares[label]).sub_intent == "enhance"


def test_the_model_was_learned_from_the_examples_as_they_are():
    digest = sha256(MODEL_FILE.with_name("examples.toml").read_bytes()).hexdigest()
    with np.load(MODEL_FILE) as stored:
        assert stored["learned_from"].item() == digest, "run scripts/train_classifier.py"


def test_words_weigh_the_same_whatever_their_number():
    few, many = features("sharpen it"), features("please sharpen the tiny letters on the sign behind the old man")
    assert sum(value**2 for value in few.values()) == pytest.approx(sum(value**2 for value in many.values()))


@pytest.mark.parametrize(
    "text", ["把" * 2000, "a " * 1000, "这张图里的文字改成" * 230, "remove the " * 190, "画" + "一" * 2000, "图," * 1000]
)
@pytest.mark.parametrize("facts", [NOTHING, PICTURE, EARLIER])
def test_a_long_text_takes_no_longer_than_a_request_may(text, facts):
    classify("warm up", facts)
    started = time.process_time()
    classify(text, facts)
    assert time.process_time() - started < 0.1


@pytest.mark.parametrize("text", ["猫", "围巾", "看病", "火锅店", "小狗", "头像", "动漫", "flowers", "birthday cake", "栖霞里", "海报"])
def test_a_bare_keyword_without_a_picture_is_looked_for_in_the_screenshots(text: str):
    assert EmbeddedClassifier().classify(text, Facts()).result["intent"] == "chat"
