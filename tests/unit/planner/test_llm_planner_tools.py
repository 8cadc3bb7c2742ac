"""The model planner where replies are calls of tools, and what else a call of it tells."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent.planner.llm import LLMPlanner
from agent.protocol.messages import CommandItem, ReplyItem, ToolSpec
from agent.protocol.outcomes import Usage
from agent.protocol.replies import (
    Chat,
    Command,
    Finish,
    TextDelta,
    ThoughtDelta,
    ToolCallDone,
    ToolCalls,
    Waiting,
)
from agent.protocol.requests import PlannerRequest
from tests.unit.planner.test_llm_planner import CHAT, GOAL, ListProvider, Redactor, plan


@pytest.mark.covers("S0-10", "S0-11")
def test_native_offers_run_command_and_reads_the_call():
    call = ToolCallDone(id="1", name="run_command", arguments_json='{"command":"ls"}')
    provider = ListProvider([TextDelta(text="I look"), call, Finish(reason="tool_calls")], "all done")
    reply, deltas = plan(provider, codec="native", schema=True)
    assert reply.reply == Command(command="ls", reason="I look")
    assert deltas == ["I look"]
    asked = provider.requests[0]
    assert [tool.name for tool in asked.tools] == ["run_command", "propose_plan"]
    assert asked.schema is None
    history = (
        GOAL,
        ReplyItem(raw=reply.raw),
        CommandItem(command_id="c", proposed="ls", run="ls", exit_code=0, stdout="a"),
    )
    reply, _ = plan(provider, *history, codec="native")
    assert reply.reply == Chat(message="all done")
    system, user, assistant, result = provider.requests[1].messages
    assert (system, user) == asked.messages
    assert assistant.tool_calls[0].id == result.tool_call_id


def test_native_invalid_calls_are_repaired_in_words():
    bad = ToolCallDone(id="1", name="run_command", arguments_json='{"command":"ls')
    provider = ListProvider([bad, Finish(reason="tool_calls")], "sorry")
    reply, _ = plan(provider, codec="native")
    assert reply.reply == Chat(message="sorry")
    assert provider.requests[1].messages[-2].tool_calls == ()
    assert "cut off" in provider.requests[1].messages[-1].content


def test_tools_are_told_in_words_where_replies_are_json():
    tool = ToolSpec(name="read_file", description="Read.", parameters={"type": "object"})
    text = '{"mode":"tools","tool_calls":[{"tool_name":"read_file","arguments":{"path":"x"}}]}'
    provider = ListProvider(text)
    reply, _ = plan(provider, request={"tools": (tool,)})
    assert isinstance(reply.reply, ToolCalls)
    assert provider.requests[0].tools == ()
    assert "- read_file: Read." in provider.requests[0].messages[0].content


def test_a_small_model_is_not_offered_what_demands_a_larger_one():
    tools = (
        ToolSpec(name="read_file", description="Read.", parameters={"type": "object"}),
        ToolSpec(name="update_todo", description="List.", parameters={"type": "object"}, demanding=True),
    )
    for small, offered in ((True, False), (False, True)):
        provider = ListProvider(CHAT)
        plan(provider, request={"tools": tools}, codec="small-json", small=small)
        told = provider.requests[0].messages[0].content
        assert "read_file" in told
        assert ("update_todo" in told) is offered


def test_code_only_is_asked_for():
    provider = ListProvider(CHAT)
    plan(provider, request={"code_only": True})
    assert "The person wants code" in provider.requests[0].messages[0].content


def test_thoughts_are_passed_on_and_are_no_part_of_the_reply() -> None:
    heard: list[tuple[str, bool]] = []

    async def hear(text: str, /, *, thought: bool = False) -> None:
        heard.append((text, thought))

    provider = ListProvider([ThoughtDelta(text="hm"), TextDelta(text=CHAT), Finish(reason="stop")])
    planner = LLMPlanner(provider, "m", redactor=Redactor())
    reply = asyncio.run(planner.plan(PlannerRequest(history=(GOAL,), stream=True), hear))
    assert heard == [("hm", True), ("done", False)]
    assert (reply.reply, reply.raw) == (Chat(message="done"), CHAT)


def test_thoughts_between_tags_are_passed_on_as_such() -> None:
    heard: list[tuple[str, bool]] = []

    async def hear(text: str, /, *, thought: bool = False) -> None:
        heard.append((text, thought))

    for size in (1, 7, 1000):
        heard.clear()
        text = f"<think>so</ th< ink> well</think>{CHAT}"
        provider = ListProvider(
            [*(TextDelta(text=text[at : at + size]) for at in range(0, len(text), size)), Finish(reason="stop")]
        )
        reply = asyncio.run(
            LLMPlanner(provider, "m", redactor=Redactor()).plan(PlannerRequest(history=(GOAL,), stream=True), hear)
        )
        assert "".join(text for text, thought in heard if thought) == "so</ th< ink> well"
        assert "".join(text for text, thought in heard if not thought) == "done"
        assert reply.reply == Chat(message="done")


def test_that_the_model_is_asked_again_later_is_told_aside() -> None:
    heard: list[tuple[str, bool]] = []

    async def hear(text: str, /, *, thought: bool = False) -> None:
        heard.append((text, thought))

    provider = ListProvider([Waiting(seconds=12.4, why="429 too\nmany"), TextDelta(text=CHAT), Finish(reason="stop")])
    asyncio.run(LLMPlanner(provider, "m", redactor=Redactor()).plan(PlannerRequest(history=(GOAL,), stream=True), hear))
    assert heard[0] == ("429 too many; asks again in 12 s\n", True)


def test_each_call_is_priced_by_the_model_that_answered() -> None:
    usage = Usage(input_tokens=10, output_tokens=1)
    provider = ListProvider(
        [TextDelta(text="?"), Finish(reason="stop", usage=usage, model="other")],
        [TextDelta(text=CHAT), Finish(reason="stop", usage=usage)],
    )
    asked: list[str] = []

    def priced(usage: Usage, model: str) -> Usage:
        asked.append(model)
        return replace(usage, cost=0.25, priced="2025-11-01")

    planner = LLMPlanner(provider, "m", redactor=Redactor(), priced=priced)
    reply = asyncio.run(planner.plan(PlannerRequest(history=(GOAL,)), nothing))
    assert asked == ["other", "m"]
    assert (reply.usage.cost, reply.usage.priced) == (0.5, "2025-11-01")


async def nothing(text: str, /, *, thought: bool = False) -> None:
    pass


def test_instructions_stand_in_the_place_of_the_planners_own_and_replies_are_calls() -> None:
    tool = ToolSpec(name="run_command", description="Run it.", parameters={"type": "object", "properties": {}})
    written = '{"plan": "look", "tool_calls": [{"tool_name": "run_command", "arguments": {"command": "ls"}}]}'
    provider = ListProvider(written)
    reply, _ = plan(
        provider, GOAL, request={"instructions": "You mend a repository.", "calls_only": True, "tools": (tool,)}
    )
    assert isinstance(reply.reply, ToolCalls)
    system = provider.requests[0].messages[0].content
    assert system.startswith("You mend a repository.") and "planner of agent-shell" not in system
    assert '"tool_calls"' in system and "mode" not in system.split("Tools:")[0].split("How to reply")[1]
