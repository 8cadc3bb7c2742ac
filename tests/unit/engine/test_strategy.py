"""A second strategy, driven through the same engine, gate and log as the goal loop."""

import asyncio

import pytest

from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.protocol.confirmations import Approved, Skipped
from agent.protocol.events.goal import GoalFinished, PlanFinished
from agent.protocol.messages import CommandItem, GoalItem, UserInput
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import Command
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, FakeRecorder, make_engine, ok, say


class Echo:
    """Says what it was given; what comes after `run:` it runs first, and asks no planner at all."""

    async def pursue(self, goal: Goal) -> Ending:
        words, _, command = goal.text.partition("run:")
        if command:
            await goal.run(Command(command=command.strip()), origin="planner")
        await goal.say(words.strip())
        return Ending(GoalStatus.ANSWERED, words.strip())


class Broken:
    async def pursue(self, goal: Goal) -> Ending:
        raise RuntimeError("out of ideas")


def go(text, strategy, *answers, planner=None, recorder=None, **input_fields):
    executor, emitter, person = FakeExecutor({"ls": ok("a b")}), FakeEmitter(), FakePerson(*answers)
    engine, ctx, log = make_engine(
        planner or FakePlanner(say("by the planner")), executor, strategy=strategy, recorder=recorder
    )
    request = RunRequest(input=UserInput(text=text, **input_fields), options=RunOptions(approval=Approval(mode="low")))
    outcome = asyncio.run(engine.run(ctx, request, emitter, person))
    return outcome, log, emitter, ctx, executor, person


def test_a_strategy_has_the_same_beginning_and_ending_as_every_goal():
    outcome, log, emitter, ctx, *_ = go("hello", Echo())
    assert log.types == ["run.started", "goal.started", "assistant.message", "goal.finished", "run.finished"]
    assert emitter.types == log.types
    assert (outcome.final_message, outcome.goal.status) == ("hello", GoalStatus.ANSWERED)
    assert [type(item) for item in ctx.history] == [GoalItem]


def test_its_commands_go_through_the_gate_and_into_log_and_history():
    outcome, log, _, ctx, executor, person = go("look run: ls", Echo())
    started = log.types.index("command.started")
    assert log.types[2:started] == ["command.proposed", "command.rated", "command.confirmed"]
    assert [command.command for command in executor.ran] == ["ls"]
    assert isinstance(ctx.history[-1], CommandItem)
    assert not person.asked
    assert [command.run for command in outcome.goal.commands] == ["ls"]


@pytest.mark.parametrize(
    ("answer", "ran"), [(Skipped(), []), (Approved(command="change it"), ["change it"])], ids=["skipped", "approved"]
)
def test_the_person_is_asked_about_what_it_wants(answer, ran):
    _, _, _, _, executor, person = go("please run: change it", Echo(), answer)
    assert len(person.asked) == 1
    assert [command.command for command in executor.ran] == ran


def test_policy_refuses_what_it_wants():
    outcome, _, _, _, executor, person = go("please run: forbidden", Echo())
    assert (executor.ran, person.asked) == ([], [])
    assert outcome.goal.commands[0].outcome == "refused"


def test_nothing_of_it_runs_that_cannot_be_recorded():
    *_, executor, _ = go("look run: ls", Echo(), recorder=FakeRecorder(broken_after=3))
    assert executor.ran == []


def test_a_bug_in_it_ends_the_goal_and_not_the_session():
    outcome, log, *_ = go("hello", Broken())
    (finished,) = log.only(GoalFinished)
    assert (finished.status, outcome.error_code) == ("failed", "other")
    assert log.types[-3:] == ["error", "goal.finished", "run.finished"]
    assert not log.only(PlanFinished)


def test_the_persons_own_command_needs_no_strategy():
    outcome, *_, executor, _ = go("ls", Broken(), shell=True)
    assert [command.command for command in executor.ran] == ["ls"]
    assert outcome.goal.status is GoalStatus.COMPLETED
