"""The approve mode lets nothing through that the screen does not show whole."""

from __future__ import annotations

import asyncio

import pytest

from agent.emitters.describe import command_line
from agent.gate.rating import LONGEST_UNASKED
from agent.protocol.events.command import CommandRated
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, ApproveMode, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine, run, say


def go(command: str, *, mode: ApproveMode = "low", shell: bool = False) -> tuple[FakePerson, FakeExecutor, object]:
    executor, person = FakeExecutor(), FakePerson()
    engine, context, log = make_engine(FakePlanner(run(command), say()), executor)
    options = RunOptions(approval=Approval(mode=mode))
    given = UserInput.from_shell(command) if shell else UserInput.from_text("do it")
    asyncio.run(engine.run(context, RunRequest(input=given, options=options), FakeEmitter(), person))
    return person, executor, log.only(CommandRated)[0].verdict  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ["low", "medium"])
def test_a_long_proposal_is_asked_for(mode: ApproveMode) -> None:
    person, executor, verdict = go("echo " + "x" * LONGEST_UNASKED, mode=mode)
    assert len(person.asked) == 1 and len(executor.ran) == 1
    assert verdict.rule == "length"  # type: ignore[attr-defined]


def test_one_that_is_shown_whole_is_not() -> None:
    command = "echo " + "x" * (LONGEST_UNASKED - 5)
    person, executor, _ = go(command)
    assert person.asked == [] and len(executor.ran) == 1
    assert "more characters" not in command_line(command, None, color=False)


def test_an_own_command_was_typed() -> None:
    person, executor, _ = go("echo " + "x" * LONGEST_UNASKED, shell=True)
    assert person.asked == [] and len(executor.ran) == 1
