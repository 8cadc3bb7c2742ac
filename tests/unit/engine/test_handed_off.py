"""A command that the person sends to the background ends its goal: it is neither a success nor a failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.planner.prompt import digest
from agent.protocol.messages import CommandItem, UserInput
from agent.protocol.outcomes import CapturedStream, ExecutionResult, GoalStatus, RunOutcome
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.recording.fold import history
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, FakeRecorder, make_engine, run, say

SENT = ExecutionResult(exit_code=0, stdout=CapturedStream(head="so far\n", total_bytes=7), state_kept=False, job=3)


def pursue(given: UserInput, planner: FakePlanner) -> tuple[RunOutcome, FakeRecorder, Any]:
    engine, context, log = make_engine(planner, FakeExecutor({"serve": SENT}))
    request = RunRequest(input=given, options=RunOptions(approval=Approval(mode="low")))
    outcome = asyncio.run(engine.run(context, request, FakeEmitter(), FakePerson()))
    return outcome, log, context


@pytest.mark.parametrize("own", [False, True])
def test_the_goal_is_handed_off_with_the_number_of_the_job(own: bool) -> None:
    given = UserInput.from_shell("serve") if own else UserInput.from_text("start the server")
    planner = FakePlanner(run("serve"), say("never asked"))
    outcome, log, context = pursue(given, planner)
    goal = outcome.goal
    assert goal is not None
    assert (goal.status, goal.exit_code) == (GoalStatus.HANDED_OFF, 0)
    assert goal.message == "it continues in the background as job 3"
    assert log.types.count("planner.started") == (0 if own else 1)
    [item] = [item for item in context.history if isinstance(item, CommandItem)]
    assert (item.job, item.stdout, item.exit_code) == (3, "so far\n", 0)


def test_the_planner_is_told_later_that_it_still_runs_and_so_says_a_log_that_is_read_back() -> None:
    _outcome, log, context = pursue(UserInput.from_text("start the server"), FakePlanner(run("serve")))
    assert "serve -> goes on in the background" in digest(context.history, 1000, lambda text: text)
    [item] = [item for item in history(log.records) if isinstance(item, CommandItem)]
    assert item.job == 3
