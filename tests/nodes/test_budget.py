from hypothesis import given
from hypothesis import strategies as st

from nodes.budget import BudgetPolicy


def test_the_shares_add_up_to_eighteen_seconds():
    assert BudgetPolicy().total == 18.0


@given(st.floats(0, 100), st.sampled_from(["media", "analyzer", "vision_summary", "planning", "buffer"]))
def test_a_stage_gets_its_share_or_what_is_left(spent: float, stage: str):
    now = [1000.0]
    policy = BudgetPolicy(clock=lambda: now[0])
    deadline = policy.deadline()
    now[0] += spent
    seconds = policy.stage(stage, deadline)  # type: ignore[arg-type]
    assert 0.0 <= seconds <= getattr(policy, stage)
    assert seconds <= max(0.0, 18.0 - spent) + 1e-6
