"""A proposal that a person has to look at is asked for under every approve mode."""

from __future__ import annotations

import asyncio

import pytest

from agent.protocol.messages import UserInput
from agent.protocol.replies import Command
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine, say


@pytest.mark.parametrize("mode", ["low", "medium"])
@pytest.mark.parametrize(("look", "times"), [("it is remembered", 1), ("", 0)])
def test_it_never_runs_unasked(mode: str, look: str, times: int) -> None:
    person = FakePerson()
    engine, context, _ = make_engine(FakePlanner(Command(command="list", look=look), say()), FakeExecutor())
    options = RunOptions(approval=Approval(mode=mode))  # type: ignore[arg-type]
    asyncio.run(
        engine.run(context, RunRequest(input=UserInput.from_text("list"), options=options), FakeEmitter(), person)
    )
    assert len(person.asked) == times
    assert all(request.verdict.reason == look for request in person.asked)
