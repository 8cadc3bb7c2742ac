"""Goals of one engine with a scripted planner, to their end."""

from __future__ import annotations

from collections import Counter

from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import (
    FakeEmitter,
    FakePerson,
    make_engine,
)

LOW = Approval(mode="low")


def request(text="do it", **fields):
    options = fields.pop("options", RunOptions(approval=LOW))
    return RunRequest(input=UserInput(text=text, **fields), options=options)


async def go(planner, text="do it", *, person=None, executor=None, emitter=None, recorder=None, clock=None, **fields):
    engine, context, log = make_engine(planner, executor, recorder=recorder, clock=clock)
    emitter = emitter or FakeEmitter()
    outcome = await engine.run(context, request(text, **fields), emitter, person or FakePerson())
    return outcome, log, emitter, context


def assert_balanced(types):
    counts = Counter(types)
    for name in {name[: -len(".started")] for name in types if name.endswith(".started")}:
        if name != "session":
            assert counts[f"{name}.started"] == counts[f"{name}.finished"], name
