"""What a person says to a proposal, and what becomes of the goal then."""

import asyncio

import pytest

from agent.protocol.confirmations import Approved, CancelGoal, Regenerate, Remark, Skipped
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import GoalStatus
from agent.protocol.requests import Approval, RunOptions
from tests.support.each import each
from tests.support.engine_goals import assert_balanced, go
from tests.support.fakes import (
    FakeExecutor,
    FakePerson,
    FakePlanner,
    failing,
    ok,
    run,
    say,
)


def sync(work):
    return asyncio.run(work)


ASK = RunOptions(approval=Approval(mode="ask"))


@pytest.mark.covers("S4-12", "S4-13")
def test_edited_command_is_rated_again_and_is_what_runs():
    executor = FakeExecutor()
    person = FakePerson(Approved(command="ls -la"))
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), person=person, executor=executor, options=ASK))
    assert [command.command for command in executor.ran] == ["ls -la"]
    assert log.types.count("command.rated") == 2
    assert outcome.goal.commands[0].edited
    assert outcome.goal.commands[0].proposed == "ls"


@pytest.mark.covers("S4-13", "S4-14")
@each(("word", "runs"), [("proceed", True), ("Proceed", False), ("yes", False), (None, False)])
def test_an_edit_into_high_risk_needs_the_word(word, runs):
    executor = FakeExecutor()
    person = FakePerson(Approved(command="danger"), words=[word])
    _, log, *_ = sync(go(FakePlanner(run("ls"), say()), person=person, executor=executor, options=ASK))
    assert bool(executor.ran) is runs
    assert len(person.asked_words) == 1
    assert ("command.started" in log.types) is runs


@pytest.mark.covers("S4-14")
def test_safety_off_needs_no_word_but_still_asks():
    executor = FakeExecutor()
    person = FakePerson()
    options = RunOptions(approval=Approval(safety_off=True))
    sync(go(FakePlanner(run("danger"), say()), person=person, executor=executor, options=options))
    assert len(executor.ran) == len(person.asked) == 1
    assert person.asked_words == []


@pytest.mark.parametrize("shell", [True, False])
def test_a_goal_says_that_the_word_was_not_typed(shell):
    person = FakePerson(Approved(command="danger"), words=["yes"])
    outcome, *_ = sync(go(FakePlanner(run("ls"), say("hm")), "ls", person=person, shell=shell, options=ASK))
    assert (outcome.goal.status, outcome.goal.message) == (GoalStatus.SKIPPED, "not run: the word was not typed")


def test_the_chat_after_an_ordinary_skip_stays_the_message():
    outcome, *_ = sync(go(FakePlanner(run("a"), say("fine")), person=FakePerson(Skipped()), options=ASK))
    assert outcome.goal.message == "fine"


def test_two_skips_in_a_row_cancel_the_goal_with_exit_code_6():
    person = FakePerson(Skipped(), Skipped())
    executor = FakeExecutor()
    outcome, *_ = sync(go(FakePlanner(run("a"), run("b"), say()), person=person, executor=executor, options=ASK))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.CANCELLED, 6)
    assert executor.ran == []


@pytest.mark.covers("S4-12", "S4-26")
def test_a_blank_edit_is_a_skip_and_the_planner_is_told():
    person = FakePerson(Approved(command="  \n"))
    planner = FakePlanner(run("a"), say("fine"))
    outcome, log, *_ = sync(go(planner, person=person, options=ASK))
    assert planner.requests[1].history[-1].outcome == "skipped"
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.SKIPPED, 6)
    assert "command.started" not in log.types


def test_remark_and_regenerate_go_back_to_the_planner():
    person = FakePerson(Remark(text="only in src"), Regenerate())
    planner = FakePlanner(run("a"), run("b"), run("c"), say())
    outcome, *_ = sync(go(planner, person=person, options=ASK))
    assert planner.requests[1].history[-1].remark == "only in src"
    assert planner.requests[2].history[-1].outcome == "regenerate"
    assert [command.outcome for command in outcome.goal.commands] == ["remark", "regenerate", "ran"]


def test_cancel_at_the_prompt_ends_the_goal():
    outcome, log, *_ = sync(go(FakePlanner(run("a")), person=FakePerson(CancelGoal()), options=ASK))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.CANCELLED, 130)
    assert_balanced(log.types)


def test_nobody_there_to_confirm_ends_with_6():
    executor = FakeExecutor()
    person = FakePerson()
    options = RunOptions(approval=Approval(interactive=False))
    outcome, *_ = sync(go(FakePlanner(run("a")), person=person, executor=executor, options=options))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.SKIPPED, 6)
    assert executor.ran == [] and person.asked == []


def test_policy_refusals_are_told_and_then_block():
    planner = FakePlanner(run("forbidden 1"), run("forbidden 2"))
    outcome, log, *_ = sync(go(planner))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.BLOCKED_BY_POLICY, 5)
    assert "command.started" not in log.types


def test_dry_run_runs_nothing():
    executor = FakeExecutor()
    options = RunOptions(approval=Approval(mode="medium", dry_run=True))
    outcome, *_ = sync(go(FakePlanner(run("ls")), executor=executor, options=options))
    assert (outcome.goal.status, executor.ran) == (GoalStatus.ANSWERED, [])


@each(
    ("result", "status", "exit_code"),
    [
        (ok("x"), GoalStatus.COMPLETED, 0),
        (failing(7), GoalStatus.FAILED, 1),
        (failing(124, timed_out=True), GoalStatus.BUDGET_EXHAUSTED, 124),
        (failing(130, interrupted=True), GoalStatus.INTERRUPTED, 130),
        (RuntimeError("executor broke"), GoalStatus.FAILED, 1),
    ],
)
def test_own_command(result, status, exit_code):
    planner = FakePlanner(say())
    outcome, log, _, context = sync(go(planner, "ls", shell=True, executor=FakeExecutor({"ls": result})))
    assert (outcome.goal.status, outcome.exit_code) == (status, exit_code)
    assert planner.requests == []
    assert isinstance(context.history[-1], CommandItem)
    assert_balanced(log.types)


def test_private_command_stays_out_of_the_history_but_not_out_of_the_log():
    _, log, _, context = sync(go(FakePlanner(say()), "ls", shell=True, private=True))
    assert context.history == []
    assert "command.finished" in log.types
