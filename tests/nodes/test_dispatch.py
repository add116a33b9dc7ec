from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Send

from memory.state import Step, StepResult
from nodes.dispatch import DEPENDENCY_FAILED, NO_EXECUTOR, ready, settle, to_executors, unfinished


def step(step_id: str, executor: str = "chat", depends_on: tuple[str, ...] = ()) -> Step:
    return Step(id=step_id, executor=executor, sub_intent=None, params={}, target_asset_ids=[], depends_on=list(depends_on))  # type: ignore[typeddict-item]


def done(step_id: str) -> StepResult:
    return StepResult(step_id=step_id, status="done", text="ok", asset_ids=[], citations=[], degraded=False, error_type=None)


def test_steps_without_dependencies_are_ready_together():
    plan = [step("a"), step("b"), step("c", depends_on=("a", "b"))]
    assert [s["id"] for s in ready(plan, [])] == ["a", "b"]
    assert [s["id"] for s in ready(plan, [done("a")])] == ["b"]
    assert [s["id"] for s in ready(plan, [done("a"), done("b")])] == ["c"]


def test_dependants_of_a_failed_step_are_skipped_with_the_reason_and_the_rest_goes_on():
    plan = [step("a"), step("b", depends_on=("a",)), step("c", depends_on=("b",)), step("d")]
    results = [unfinished(plan[0], status="failed", reason="boom")]
    settled = settle(plan, results, executors=["chat"])
    assert [(r["step_id"], r["status"], r["text"]) for r in settled] == [
        ("b", "skipped", DEPENDENCY_FAILED),
        ("c", "skipped", DEPENDENCY_FAILED),
    ]
    assert [s["id"] for s in ready(plan, [*results, *settled])] == ["d"]


def test_a_step_without_an_executor_fails_with_that_reason():
    settled = settle([step("a", "image_edit")], [], executors=["chat", "vision"])
    assert [(r["status"], r["text"]) for r in settled] == [("failed", NO_EXECUTOR)]


def test_ready_steps_are_sent_with_their_turn_and_a_settled_plan_goes_to_reply():
    turn = {"input": {"text": "q"}, "messages": [], "turn_id": "t", "plan": [step("a")], "results": []}
    (send,) = to_executors(turn)  # type: ignore[arg-type]
    assert isinstance(send, Send)
    assert (send.node, send.arg["step"]["id"], send.arg["turn_id"]) == ("chat", "a", "t")
    assert to_executors({**turn, "results": [done("a")]}) == "reply"  # type: ignore[arg-type]


@st.composite
def plans(draw: st.DrawFn) -> list[Step]:
    size = draw(st.integers(1, 8))
    return [
        step(
            f"s{i}",
            draw(st.sampled_from(["chat", "vision", "image_edit"])),
            tuple(draw(st.lists(st.sampled_from([f"s{j}" for j in range(i)]), unique=True, max_size=3))) if i else (),
        )
        for i in range(size)
    ]


@given(plans(), st.data())
def test_every_plan_ends_with_exactly_one_result_per_step(plan: list[Step], data: st.DataObject):
    results: list[StepResult] = []
    for _ in range(len(plan) + 1):
        results += settle(plan, results, executors=["chat", "vision"])
        steps = ready(plan, results)
        if not steps:
            break
        for one in steps:
            ok = data.draw(st.booleans())
            results.append(done(one["id"]) if ok else unfinished(one, status="failed", reason="boom"))
    assert sorted(r["step_id"] for r in results) == sorted(s["id"] for s in plan)
