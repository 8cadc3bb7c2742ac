"""`start` and `respond`."""

import asyncio

import pytest

from agent.engine.facade import Conversation
from agent.protocol.errors import InvalidState, PlannerError
from agent.protocol.messages import ToolCall
from agent.protocol.outcomes import EngineOutput
from agent.protocol.replies import ToolCalls
from agent.protocol.requests import Approval, RunOptions
from agent.tools.own_tools import WriteFile
from tests.support.fakes import FakeEmitter, FakePerson, FakePlanner, make_engine, say

OPTIONS = RunOptions(approval=Approval(mode="medium"))


def conversation(planner, tools=None, emitter=None):
    engine, context, _ = make_engine(planner, tools=tools)
    return Conversation(engine, context, FakePerson(), options=OPTIONS, emitter=emitter)


def call(name, **arguments):
    return ToolCalls(calls=(ToolCall(id=name, name=name, arguments=arguments),))


@pytest.mark.covers("S0-3", "S0-4", "S0-5", "S0-6", "S0-7", "S0-8", "S0-15", "S0-16", "S0-18")
def test_a_conversation(tmp_path):
    planner = FakePlanner(
        say("what is it for?"),
        call("file_write", path="plan.md", content="# plan"),
        say("written"),
        call("session_complete", message="bye"),
    )
    emitter = FakeEmitter()
    talk = conversation(planner, {"write_file": WriteFile(str(tmp_path))}, emitter)

    async def scenario():
        first = await talk.start("help me")
        second = await talk.respond("a shop")
        third = await talk.respond("enough")
        return first, second, third

    first, second, third = asyncio.run(scenario())
    assert first == EngineOutput(text="what is it for?")
    assert second == EngineOutput(text="written", files_written=("plan.md",))
    assert third == EngineOutput(text="bye", done=True)
    assert (tmp_path / "plan.md").read_text() == "# plan"
    assert "tool.finished" in emitter.types
    with pytest.raises(InvalidState):
        asyncio.run(talk.respond("more"))
    texts = [item.text for item in planner.requests[-1].history if item.__class__.__name__ == "GoalItem"]
    assert texts == ["help me", "a shop", "enough"]


@pytest.mark.covers("S0-18")
def test_wrong_order():
    talk = conversation(FakePlanner(say()))
    with pytest.raises(InvalidState):
        asyncio.run(talk.respond("x"))
    asyncio.run(talk.start("x"))
    with pytest.raises(InvalidState):
        asyncio.run(talk.start("y"))


def test_errors_are_raised_and_the_turn_can_be_tried_again():
    talk = conversation(FakePlanner(PlannerError("empty reply"), say("now")))
    with pytest.raises(PlannerError):
        asyncio.run(talk.start("x"))
    assert asyncio.run(talk.start("x")).text == "now"


@pytest.mark.covers("S0-18")
def test_one_turn_at_a_time():
    talk = conversation(FakePlanner(say("one"), say("two")))

    async def scenario():
        first = asyncio.create_task(talk.start("x"))
        await asyncio.sleep(0)
        for turn in (talk.start, talk.respond):
            with pytest.raises(InvalidState, match="in a turn"):
                await turn("y")
        return await first, await talk.respond("y")

    first, second = asyncio.run(scenario())
    assert (first.text, second.text) == ("one", "two")
