"""The gate and the second lock: what runs unasked is held, what wanted more is rated higher and asked for."""

from __future__ import annotations

import asyncio

from agent.protocol.approvals import Rights
from agent.protocol.confirmations import Approved
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.events.command import CommandFinished, CommandRated
from agent.protocol.events.session import Warned
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import ExecutionResult, ExitCode
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine, say

WANTED = "write /home/me/.bashrc"


class Held(FakeExecutor):
    """Refuses what is held, and runs what is not."""

    async def execute(self, command, sink, cancel):
        result = await super().execute(command, sink, cancel)
        return (
            ExecutionResult(exit_code=137, refused=(WANTED,))
            if command.rights is not None and command.command == "look"
            else result
        )


def go(text="look", *answers, executor=None, **approval):
    person, executor = FakePerson(*answers), executor or Held()
    engine, context, log = make_engine(FakePlanner(say()), executor)
    request = RunRequest(input=UserInput.from_shell(text), options=RunOptions(approval=Approval(**approval)))
    outcome = asyncio.run(engine.run(context, request, FakeEmitter(), person))
    return outcome, log, person, executor


def test_what_runs_unasked_has_rights_and_what_a_person_confirmed_has_none():
    _, _, _, executor = go("see", mode="low")
    assert [run.rights for run in executor.ran] == [Rights()]
    _, _, _, executor = go("see")
    assert [run.rights for run in executor.ran] == [None]


def test_what_wanted_more_is_recorded_rated_higher_and_asked_for():
    _, log, person, executor = go("look", Approved(command="look"), mode="low")
    assert log.only(CommandFinished)[0].result.refused == (WANTED,)
    rated = log.only(CommandRated)[-1]
    assert rated.report.level is Level.MEDIUM
    assert rated.report.findings[0].reason == f"it tried to {WANTED}, which its rating does not say"
    assert (
        WANTED in person.asked[0].report.findings[0].reason and person.asked[0].note == "it ran unasked and was ended"
    )
    assert [run.rights for run in executor.ran] == [Rights(), None]


def test_where_nobody_is_there_it_is_declined():
    outcome, _, person, executor = go("look", mode="low", interactive=False)
    assert outcome.exit_code == ExitCode.DECLINED
    assert (person.asked, len(executor.ran)) == ([], 1)


def test_approving_medium_does_not_run_it_again_unasked():
    _, _, person, executor = go("look", Approved(command="look"), mode="medium")
    assert (len(person.asked), len(executor.ran)) == (1, 2)


def test_what_cannot_be_held_is_asked_for_and_said_once():
    executor = Held()
    executor.unholdable = "an old kernel"
    _, log, person, _ = go("look", Approved(command="look"), executor=executor, mode="low")
    assert "an old kernel" in person.asked[0].verdict.reason
    assert [run.rights for run in executor.ran] == [None]
    assert len([event for event in log.only(Warned) if "an old kernel" in event.text]) == 1
    _, log, _, _ = go("look", Approved(command="look"), executor=executor, mode="low")
    assert log.only(Warned) == []


def test_what_is_confined_is_confined_as_its_rating_says():
    _, _, _, executor = go("see", mode="low", confine="workspace")
    assert [(run.confine, run.rights) for run in executor.ran] == [("read-only,no-network", None)]
    assert isinstance(executor.ran[0].report, RiskReport)
