import time
from types import SimpleNamespace
from typing import Any

from memory.context import ChatContext
from memory.state import WorkingMemory
from models.embedded.classifier.classifier import EmbeddedClassifier, Facts, Verdict
from nodes.budget import BudgetPolicy
from nodes.classify import classify, facts_of
from tests.eval.instructions import turn


def state(text: str, images: int = 0, **working: Any) -> dict[str, Any]:
    memory = WorkingMemory(
        current_task="", focus_asset_ids=[], last_referenced_asset_ids=[], last_generated_asset_ids=[], last_intent=None, updated_at=""
    )
    return {"input": turn(text, images), "deadline_at": time.time() + 18, "working_memory": {**memory, **working}}


async def run(given: dict[str, Any], *, classifier: Any = None, **context: Any) -> dict[str, Any]:
    runtime: Any = SimpleNamespace(context=ChatContext(**context))
    return await classify(given, runtime, classifier=classifier or EmbeddedClassifier(), budget=BudgetPolicy())  # type: ignore[arg-type]


async def test_the_verdict_and_the_rule_that_gave_it_are_written_down():
    update = await run(state("抠图", images=1))
    assert (update["analysis"]["intent"], update["analysis"]["sub_intent"]) == ("image_edit", "remove_background")
    (entry,) = update["trace"]
    assert (entry["node"], entry["decision"], entry["by"]) == ("classify", "image_edit remove_background", "exact_command:cut_out")
    assert entry["detail"]["exact_command"] is True
    assert entry["budget_left"] is not None


async def test_an_edit_without_any_picture_asks_for_one():
    assert (await run(state("把背景换成蓝色")))["analysis"]["clarification_reason"] == "no_image"


def test_facts_come_from_the_message_the_working_memory_and_the_context():
    given = state("再来一张", images=2, focus_asset_ids=["u0", "a"], last_generated_asset_ids=["a", "b"])
    assert facts_of(given, ChatContext(mode="batch", skill_id="batch-edit")) == Facts(  # type: ignore[arg-type]
        n_images=2, n_history=2, has_last_result=True, mode="batch", skill="batch-edit"
    )
    assert facts_of({"input": turn("hi", 0)}, ChatContext(mode="agent")) == Facts()  # type: ignore[typeddict-item]


async def test_a_turn_out_of_budget_is_still_classified_by_its_words():
    update = await run({**state("抠图", images=1), "deadline_at": time.time() - 5})
    assert (update["analysis"]["intent"], update["trace"][0]["budget_left"]) == ("image_edit", 0.0)


class SlowClassifier:
    def classify(self, text: str, facts: Facts) -> Verdict:
        raise TimeoutError


async def test_out_of_time_the_facts_decide():
    update = await run(state("抠图", images=1), classifier=SlowClassifier())
    assert update["analysis"]["intent"] == "vision"
    assert update["trace"][0]["by"] == "facts"
    assert (await run(state("抠图"), classifier=SlowClassifier()))["analysis"]["intent"] == "chat"
