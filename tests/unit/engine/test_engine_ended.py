"""Runs that are ended or go wrong: interrupted, cancelled, with a planner, an emitter or a log that fails."""

import asyncio

import pytest

from agent.protocol.errors import ClientDisconnected, PlannerError, ProviderError, WriteFailed
from agent.protocol.events.session import Warned
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import GoalStatus
from agent.protocol.requests import RunOptions
from tests.support.each import each
from tests.support.engine_goals import assert_balanced, go
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakePlanner,
    FakeRecorder,
    failing,
    ok,
    run,
    say,
)


def sync(work):
    return asyncio.run(work)


@pytest.mark.covers("S4-25")
def test_interrupting_a_command_ends_the_goal_and_keeps_its_output():
    executor = FakeExecutor({"sleep": failing(130, "partial", interrupted=True)})
    outcome, _, _, context = sync(go(FakePlanner(run("sleep"), say()), executor=executor))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.INTERRUPTED, 130)
    assert context.history[-1].stderr == "partial"


@each(
    ("error", "status", "exit_code"),
    [
        (PlannerError("empty reply"), GoalStatus.PLANNER_ERROR, 4),
        (ProviderError("openrouter", "down", status=503), GoalStatus.PLANNER_ERROR, 4),
        (ValueError("bug"), GoalStatus.PLANNER_ERROR, 4),
    ],
)
def test_planner_faults_have_a_status_and_one_finish_each(error, status, exit_code):
    outcome, log, *_ = sync(go(FakePlanner(error)))
    assert (outcome.goal.status, outcome.exit_code) == (status, exit_code)
    assert log.types == [
        "run.started", "goal.started", "planner.started", "planner.finished", "error", "goal.finished", "run.finished",
    ]  # fmt: skip


@pytest.mark.covers("S0-19", "S1-61", "S4-25")
def test_cancel_while_the_planner_thinks():
    class Slow(FakePlanner):
        async def plan(self, request, on_delta):
            await asyncio.sleep(60)

    async def scenario():
        cancel = CancellationToken()
        asyncio.get_running_loop().call_later(0.05, cancel.cancel, "interrupted")
        return await go(Slow(), options=RunOptions(cancel=cancel))

    outcome, log, *_ = sync(scenario())
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.INTERRUPTED, 130)
    assert_balanced(log.types)


@pytest.mark.covers("S1-61")
def test_cancelled_before_it_starts_does_nothing():
    cancel = CancellationToken()
    cancel.cancel()
    outcome, log, *_ = sync(go(FakePlanner(say()), options=RunOptions(cancel=cancel)))
    assert log.types == ["run.started", "error", "run.finished"]
    assert outcome.exit_code == 130


def test_cancelling_the_task_itself_still_finishes_the_log():
    class Slow(FakePlanner):
        async def plan(self, request, on_delta):
            await asyncio.sleep(60)

    async def scenario():
        log = FakeRecorder()
        task = asyncio.create_task(go(Slow(), recorder=log))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return log

    log = sync(scenario())
    assert log.types[-1] == "run.finished"
    assert_balanced(log.types)


@pytest.mark.covers("S1-40", "S1-63", "S1-75")
@each("error", [ClientDisconnected(), WriteFailed("EPIPE"), RuntimeError("printer bug")])
@each("after", range(8))
def test_emitter_failures_are_latched_and_never_fatal(error, after):
    emitter = FakeEmitter(error, after)
    executor = FakeExecutor({"ls": ok("x")})
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), executor=executor, emitter=emitter))
    assert outcome.goal.status is GoalStatus.COMPLETED
    assert emitter.calls == after + 1
    assert log.types[-1] == "run.finished"
    warnings = [event.text for event in log.only(Warned)]
    assert len(warnings) == (0 if isinstance(error, ClientDisconnected) else 1)


@each("broken_after", range(16))
def test_nothing_runs_when_recording_fails(broken_after):
    """At whatever event the log breaks: what was not recorded did not run, and endings are shown all the same."""
    executor = FakeExecutor({"ls": ok("x")})
    recorder = FakeRecorder(broken_after=broken_after)
    emitter = FakeEmitter()
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), executor=executor, recorder=recorder, emitter=emitter))
    assert bool(executor.ran) is ("command.started" in log.types)
    assert emitter.types[-1] == "run.finished" or outcome.exit_code == 1
    assert_balanced(emitter.types)
    if broken_after < 15:
        assert outcome.exit_code == 1
