"""One call of a model: what it says as it comes, and its answer in one piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agent.planner.codecs.codecs import make_codec
from agent.planner.llm import LLMPlanner
from agent.planner.model_call import ask, counted, echoes, unheard
from agent.protocol.errors import PlannerError, ProviderError
from agent.protocol.messages import ChatMessage, GoalItem
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, TextDelta, ToolCallDone
from agent.protocol.requests import PlannerRequest, ProviderRequest
from agent.retrieval.manuals import Manuals
from tests.support.each import each
from tests.unit.planner.test_llm_planner import Answer, ListProvider, Redactor
from tests.unit.retrieval.test_manuals import PAGE, World

CALL = ProviderRequest(model="m", messages=(ChatMessage(role="user", content="hello there"),), stream=False)


class Pieces:
    """A provider whose stream is these pieces."""

    def __init__(self, *pieces: Any) -> None:
        self._pieces = pieces

    async def stream(self, request: ProviderRequest) -> AsyncIterator[Any]:
        for piece in self._pieces:
            yield piece


def answered(*pieces: Any) -> Any:
    return asyncio.run(ask(Pieces(*pieces), CALL, make_codec("native"), unheard, after_text=False))  # type: ignore[arg-type]


def test_pieces_are_put_together_and_counted_where_the_server_did_not() -> None:
    called = ToolCallDone(id="1", name="look", arguments_json="{}")
    answer = answered(TextDelta(text="a"), called, TextDelta(text="b"), Finish(reason="stop"))
    assert (answer.text, answer.calls, answer.finish.reason) == ("ab", (called,), "stop")
    usage = counted(answer, CALL.messages)
    assert usage.estimated and usage.input_tokens > 0 and usage.output_tokens > 0
    told = answered(Finish(reason="stop", usage=Usage(input_tokens=3, output_tokens=4)))
    assert counted(told, CALL.messages) == Usage(input_tokens=3, output_tokens=4)


def test_a_reply_that_is_cut_off_or_does_not_stop_is_none() -> None:
    with pytest.raises(PlannerError, match="without saying that it is complete"):
        answered(TextDelta(text="a"))
    with pytest.raises(PlannerError, match="did not stop"):
        answered(*[TextDelta(text="x" * 1_000_000)] * 40)


INSTRUCTIONS = (
    "Reply with one JSON object. Propose one shell command that reaches the goal, and say why in one sentence."
)


@each(
    ("message", "is_echo"),
    [
        ("propose one shell command that reaches the goal", True),
        ("Propose one shell command that reaches the goal, and say why in one sentence", True),
        ("one shell command", False),
        ("", False),
        ("One shell command is enough here: ls lists the files of this folder by size.", False),
        ("Three files lie here; the largest is a.iso.", False),
    ],
)
def test_echoes(message: str, is_echo: bool) -> None:
    assert echoes(message, INSTRUCTIONS) is is_echo


WRONG = '{"mode":"command","command":"tar -xzf a.tgz --excluding x"}'
RIGHT = '{"mode":"command","command":"tar -xzf a.tgz --exclude x"}'
GOAL = GoalItem(goal_id="g", text="extract a.tgz with tar but leave out x")


@pytest.fixture
def manuals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manuals:
    world = World(tmp_path, monkeypatch)
    world.program("tar", PAGE)
    return world.manuals()


def plan(
    manuals: Manuals | None, *answers: Answer, goal: GoalItem = GOAL, small: bool = False
) -> tuple[Reply, ListProvider]:
    provider = ListProvider(*answers)
    planner = LLMPlanner(provider, "m", redactor=Redactor(), manuals=manuals, small=small)

    async def ignore(text: str, /, *, thought: bool = False) -> None: ...

    return asyncio.run(planner.plan(PlannerRequest(history=(goal,)), ignore)).reply, provider


def texts(messages: tuple[ChatMessage, ...]) -> str:
    return "\n".join(message.content for message in messages)


def test_a_wrong_option_is_given_back_with_lines_of_the_manual(manuals: Manuals) -> None:
    reply, provider = plan(manuals, WRONG, RIGHT)
    assert isinstance(reply, Command)
    assert reply.command == "tar -xzf a.tgz --exclude x"
    asked, again = provider.requests
    assert "excluding" not in texts(asked.messages)
    told = again.messages[-1].content
    assert "tar here has no --excluding" in told
    assert "tar --exclude=PATTERN: leave out files that match" in told
    assert again.messages[-2].role == "assistant"
    assert WRONG in again.messages[-2].content


def test_a_small_model_is_asked_anew_since_it_repeats_what_it_reads(manuals: Manuals) -> None:
    reply, provider = plan(manuals, WRONG, RIGHT, small=True)
    assert isinstance(reply, Command)
    assert reply.command == "tar -xzf a.tgz --exclude x"
    first, again = provider.requests
    assert again.messages[1:] == first.messages[1:]
    assert "tar here has no --excluding" in again.messages[0].content


@pytest.mark.parametrize(
    "second", [WRONG, '{"mode":"chat","message":"no"}', "no reply in form", [ProviderError("list", "gone")]]
)
def test_what_was_proposed_first_stands_where_the_second_is_no_better(manuals: Manuals, second: Answer) -> None:
    reply, provider = plan(manuals, WRONG, second)
    assert isinstance(reply, Command)
    assert reply.command == "tar -xzf a.tgz --excluding x"
    assert len(provider.requests) == 2, "it is asked once"


def test_right_options_cost_no_second_call_and_without_manuals_nothing_is_checked(manuals: Manuals) -> None:
    assert len(plan(manuals, RIGHT)[1].requests) == 1
    assert len(plan(manuals, '{"mode":"chat","message":"hello"}')[1].requests) == 1
    assert len(plan(None, WRONG)[1].requests) == 1


def test_every_step_of_a_plan_is_checked(manuals: Manuals) -> None:
    from agent.planner.model_call import OptionFacts, lost
    from agent.protocol.replies import PlanStep

    steps = (PlanStep(goal="a", command="tar --odd"), PlanStep(goal="b"), PlanStep(goal="c", command="tar --even -x"))
    facts = OptionFacts(manuals)
    assert lost(facts.missing(Plan(message="", steps=steps))) == 2
    assert facts.missing(Chat(message="tar --odd")) == ()


@pytest.mark.parametrize("small", [False, True])
def test_a_goal_that_names_a_program_comes_with_lines_of_its_manual(manuals: Manuals, small: bool) -> None:
    _, provider = plan(manuals, RIGHT, small=small)
    shown = provider.requests[0].messages
    place = shown[0] if small else shown[-1]
    assert "tar --exclude=PATTERN: leave out files that match" in place.content
    assert "<data-" in place.content
    _, other = plan(manuals, RIGHT, goal=structs.replace(GOAL, text="extract a.tgz but leave out x"), small=small)
    assert "leave out files" not in texts(other.requests[0].messages)


def test_the_second_call_is_counted(manuals: Manuals) -> None:
    provider = ListProvider(
        *(
            [TextDelta(text=text), Finish(reason="stop", usage=Usage(input_tokens=10, output_tokens=5))]
            for text in (WRONG, RIGHT)
        )
    )
    planner = LLMPlanner(provider, "m", redactor=Redactor(), manuals=manuals)

    async def ignore(text: str, /, *, thought: bool = False) -> None: ...

    answer = asyncio.run(planner.plan(PlannerRequest(history=(GOAL,)), ignore))
    assert answer.usage == Usage(input_tokens=20, output_tokens=10)
