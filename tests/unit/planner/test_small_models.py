"""What small models are given: examples like the goal, a short form, and a schema that ends."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.planner.codecs import make_codec
from agent.planner.few_shot import MOST, FewShot
from agent.planner.llm import LLMPlanner
from agent.protocol.errors import PlannerError
from agent.protocol.messages import GoalItem, StepItem, ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, PlanStep
from agent.protocol.requests import PlannerRequest
from agent.providers.scripted import Scripted

STOP = Finish(reason="stop")
TOOL = ToolSpec(name="read_file", description="reads", parameters={"type": "object", "properties": {}})


@pytest.fixture(scope="module")
def few() -> FewShot:
    found = FewShot()
    found.load()
    return found


@pytest.mark.parametrize(
    ("goal", "part"),
    [
        ("how many lines do all the python files have", "wc -l"),
        ("remove every empty directory", "-empty -delete"),
        ("sum the third column of prices.csv", "awk -F,"),
        ("who is listening on port 9000", "ss -ltnp"),
    ],
)
def test_the_likest_example_comes_last(few: FewShot, goal: str, part: str) -> None:
    shots = few.nearest(goal)
    assert 2 <= len(shots) <= MOST
    assert part in shots[-1].command
    assert len({shot.command for shot in shots}) == len(shots)


@pytest.mark.parametrize("goal", ["", "   ", "xyzzy", "\x00" * 50, "a" * 100_000])
def test_a_goal_like_none_has_no_examples(few: FewShot, goal: str) -> None:
    assert few.nearest(goal) == ()


def test_the_schema_bounds_every_text_and_offers_no_plans() -> None:
    schema = make_codec("small-json").schema()
    assert schema is not None
    modes = [form["properties"]["mode"]["const"] for form in schema["anyOf"]]
    assert modes == ["command", "chat"]
    texts = [part for form in schema["anyOf"] for part in form["properties"].values() if part.get("type") == "string"]
    assert all(part["minLength"] == 1 and part["maxLength"] <= 600 for part in texts)
    assert [form["properties"]["mode"]["const"] for form in make_codec("small-json", (TOOL,)).schema()["anyOf"]][
        2:
    ] == ["tools"]


def test_what_it_writes_it_reads() -> None:
    codec = make_codec("small-json")
    for reply in (
        Command(command="ls"),
        Chat(message="hi"),
        Plan(message="", steps=(PlanStep(goal="a"), PlanStep(goal="b"))),
    ):
        assert codec.parse(codec.write(reply), (), STOP) == reply
    with pytest.raises(PlannerError):
        codec.parse('{"mode": "command", "command": ""}', (), STOP)


class Keep:
    def redact(self, text: str) -> str:
        return text


def asked(planner: LLMPlanner, provider: Scripted, *history: object) -> list[tuple[str, str]]:
    async def ignore(_: str) -> None: ...

    asyncio.run(planner.plan(PlannerRequest(history=history), ignore))  # type: ignore[arg-type]
    return [(message.role, message.content) for message in provider.requests[-1].messages]


def planner_of(provider: Scripted, **fields: object) -> LLMPlanner:
    shots = (("count it", "wc -l a"), ("list it", "ls"))
    seen: list[str] = []
    fields = {"examples": lambda goal: seen.append(goal) or shots, **fields}
    planner = LLMPlanner(provider, "m", redactor=Keep(), codec="small-json", **fields)  # type: ignore[arg-type]
    planner.seen = seen  # type: ignore[attr-defined]
    return planner


def test_examples_are_turns_before_the_goal() -> None:
    provider = Scripted(['{"mode": "command", "command": "ls"}'] * 2)
    planner = planner_of(provider)
    goal = GoalItem(goal_id="g", text="show files")
    messages = asked(planner, provider, goal)
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert messages[1] == ("user", "# Goal\ncount it")
    assert json.loads(messages[2][1]) == {"mode": "command", "command": "wc -l a"}
    assert messages[-1][1].startswith("# Goal\nshow files")
    asked(planner, provider, goal, StepItem(number=2, total=2, goal="then count"))
    assert planner.seen == ["show files", "then count"]  # type: ignore[attr-defined]


def test_without_room_there_are_none() -> None:
    provider = Scripted(['{"mode": "command", "command": "ls"}'])
    messages = asked(planner_of(provider, context_tokens=1500), provider, GoalItem(goal_id="g", text="show files"))
    assert [role for role, _ in messages] == ["system", "user"]
