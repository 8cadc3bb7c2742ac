"""The confirmation says where a part of the command stands as a label elsewhere; what is rated is the command itself."""

from __future__ import annotations

import asyncio

from agent.protocol.messages import UserInput
from agent.protocol.requests import RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine, say


def asked(command: str) -> str:
    person = FakePerson()
    engine, context, _ = make_engine(FakePlanner(say()), FakeExecutor())
    asyncio.run(engine.run(context, RunRequest(input=UserInput.from_shell(command)), FakeEmitter(), person))
    assert person.asked[0].report.command == command
    return person.asked[0].note


def test_a_hidden_part_is_said_before_enter() -> None:
    note = asked("login hunter2-secret; date")
    assert note == "a part of it is a secret and hidden in the log; it was rated as it runs: login [redacted]; date"
    assert asked("login; date") == ""
