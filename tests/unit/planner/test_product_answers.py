from __future__ import annotations

from agent.planner.product_answers import answer_of_product
from agent.protocol.replies import Chat
from tests.support.each import each


@each(
    ("goal", "found"),
    [
        ("what is 15% of 240", "36"),
        ("12*34", "408"),
        ("10 plus 1", "11"),
        ("how much is 7 divided by 2?", "3.5"),
        ("calculate (2 + 3) * -4", "-20"),
        ("0.1 + 0.2 =", "0.3"),
        ("what is 50 percent of 8 minus 1", "3"),
    ],
)
def test_a_sum_is_worked_out(goal: str, found: str) -> None:
    said = answer_of_product(goal, lambda name: False)
    assert isinstance(said, Chat)
    assert said.message.rpartition(" = ")[2] == found


@each(
    "goal",
    [
        "2026-11-27",
        "10/11/12",
        "192.168.1.1",
        "what is 12",
        "755",
        "what is 1/0",
        "2**9999999",
        "(" * 150 + "1+1",
        "1 + x",
    ],
)
def test_what_is_no_sum_is_a_goal(goal: str) -> None:
    assert answer_of_product(goal, lambda name: False) is None
