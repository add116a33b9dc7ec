import pytest
from langchain_core.messages import HumanMessage

from memory.state import StepResult
from nodes.dispatch import NO_EXECUTOR
from nodes.prompts import TIMED_OUT
from nodes.reply import compose, reply


def turn(text: str, *results: StepResult, executor: str = "chat", problems: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "turn_id": "t1",
        "messages": [HumanMessage(text)],
        "input": {
            "text": text,
            "image_refs": [],
            "video_refs": [],
            "file_refs": [],
            "from_history": False,
            "problems": [{"code": code, "detail": ""} for code in problems],
        },
        "plan": [{"id": r["step_id"], "executor": executor} for r in results],
        "results": list(results),
    }


def result(text: str, *, status: str = "done", degraded: bool = False, error_type: str | None = None) -> StepResult:
    return StepResult(
        step_id="s1",
        status=status,  # type: ignore[typeddict-item]
        text=text,
        asset_ids=[],
        citations=[5],
        degraded=degraded,
        error_type=error_type,
    )


@pytest.mark.parametrize("executor", ["image_edit", "image_gen", "video_gen", "model_3d"])
@pytest.mark.parametrize(("question", "word"), [("把背景换成白色", "还不能"), ("Make the background white", "cannot")])
def test_what_the_build_cannot_do_is_said_in_the_users_language(executor: str, question: str, word: str):
    assert word in compose(turn(question, result(NO_EXECUTOR, status="failed"), executor=executor))  # type: ignore[arg-type]


def test_a_degraded_answer_says_so_and_a_bad_part_is_named():
    text = compose(turn("这是什么", result("一只猫", degraded=True), problems=("too_large",)))  # type: ignore[arg-type]
    assert "一只猫" in text
    assert "内置引擎" in text
    assert "文件太大" in text


async def test_the_message_has_the_turns_id_and_its_facts():
    out = await reply(turn("问", result("答 [截图#5]", error_type="timeout", status="failed")))  # type: ignore[arg-type]
    (message,) = out["messages"]
    assert (message.id, message.content) == ("t1-reply", "答 [截图#5]")
    assert message.additional_kwargs == {"citations": [5], "degraded": False, "error_type": "timeout"}


def test_a_turn_without_any_result_says_that_it_timed_out():
    assert compose(turn("问")) == TIMED_OUT  # type: ignore[arg-type]
