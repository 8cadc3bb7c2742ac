"""What is advised where nobody was there to confirm: what would have helped, and nothing else."""

from __future__ import annotations

import pytest

from agent.frontends.one_shot import _nobody
from agent.protocol.outcomes import NO_TERMINAL, CommandSummary, GoalStatus, GoalSummary
from tests.support.each import each


def refused(risk: str, remark: str = NO_TERMINAL) -> list[GoalSummary]:
    command = CommandSummary(command_id="1", proposed="x", outcome="declined", risk=risk, remark=remark)
    return [GoalSummary(goal_id="1", goal="g", status=GoalStatus.SKIPPED, exit_code=6, commands=(command,))]


@pytest.mark.parametrize("risk", ["low", "medium"])
def test_the_level_that_would_have_run_it_is_named(risk: str) -> None:
    assert _nobody(refused(risk)) == f"run it in a terminal, or with --approve {risk}"


@each("goals", [[], refused("high"), refused("low", f"{NO_TERMINAL}: a rule of the policy asks for it [x]")])
def test_no_level_is_named_where_none_would_have_helped(goals: list[GoalSummary]) -> None:
    assert _nobody(goals) == "run it in a terminal"
