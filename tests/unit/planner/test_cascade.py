"""Who is asked, in which order, what is said before, and what happens when one of them fails."""

from __future__ import annotations

import asyncio

import pytest

from agent.planner.cascade import CascadePlanner, Stage, what_is_told
from agent.protocol.errors import Cancelled, ConfigError, CoreError, PlannerError, ProviderError
from agent.protocol.messages import CommandItem, ContextBlock, GoalItem, HistoryItem
from agent.protocol.ports import DeltaHandler
from agent.protocol.replies import Chat, Command, Plan, PlannerReply, PlanStep, Reply
from agent.protocol.requests import PlannerRequest
from tests.support.each import each


class Fake:
    """Says its replies in order; keeps the requests it saw."""

    def __init__(self, name: str, *replies: Reply | Exception) -> None:
        self.name, self.model = name, "m"
        self.replies = list(replies)
        self.seen: list[PlannerRequest] = []

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        self.seen.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Chat) and request.stream:
            await on_delta(reply.message)
        return PlannerReply(reply=reply, model=self.model)


def stage(fake: Fake, **fields: object) -> Stage:
    return Stage(**{"name": fake.name, "make": lambda: fake, "leaves": False, **fields})  # type: ignore[arg-type]


class World:
    """A cascade of recipes, a local model and one elsewhere, with everything that is said."""

    def __init__(self, recipes: Fake, local: Fake, remote: Fake, **of_remote: object) -> None:
        self.said: list[str] = []
        self.shown: list[str] = []
        self.seen_when_said: list[int] = []
        self.remote = remote
        stages = (stage(recipes, by_recipes=True), stage(local), stage(remote, leaves=True, **of_remote))
        self.planner = CascadePlanner(stages, tell=self.tell)

    async def tell(self, text: str) -> None:
        self.said.append(text)
        self.seen_when_said.append(len(self.remote.seen))

    async def delta(self, text: str) -> None:
        self.shown.append(text)

    def ask(self, *history: HistoryItem) -> PlannerReply:
        return asyncio.run(self.planner.plan(PlannerRequest(history=history), self.delta))


GOAL = GoalItem(goal_id="g1", text="do it")
SURE = Command(command="ls", confidence=0.95)
NOTHING = Chat(message="I do not know")


def ran(code: int = 0) -> CommandItem:
    return CommandItem(command_id="c", proposed="ls", run="ls", exit_code=code, outcome="ran")


def test_a_confident_recipe_asks_nobody() -> None:
    world = World(Fake("offline", SURE), Fake("local"), Fake("remote"))
    reply = world.ask(GOAL)
    assert reply.reply is SURE
    assert reply.model == "offline:m"
    assert world.said == []


@each(
    "unsure",
    [
        Command(command="ls", confidence=0.5),
        Command(command="ls"),
        Command(command="ls", confidence=0.9, unused=("twice",)),
        Plan(message="", steps=(PlanStep(goal="a", command="b", unused=("c",)),), confidence=0.9),
        NOTHING,
    ],
)
def test_what_recipes_are_not_sure_of_goes_to_the_local_model(unsure: Reply) -> None:
    world = World(Fake("offline", unsure), Fake("local", Command(command="date")), Fake("remote"))
    reply = world.ask(GOAL)
    assert reply.reply == Command(command="date")
    assert world.said == ["asks local (stays on this machine)"]
    assert world.shown == []  # the words that did not count were not shown


def test_what_leaves_is_said_before_it_leaves() -> None:
    world = World(Fake("offline", NOTHING), Fake("local", PlannerError("no JSON")), Fake("remote", Chat(message="hi")))
    old = GoalItem(goal_id="g0", text="before", context=(ContextBlock(label="x", text="y"),))
    world.ask(old, ran(), ran(1), GOAL)
    assert world.said == [
        "asks local (stays on this machine)",
        "local cannot answer: no JSON",
        "asks remote (leaves this machine): this goal and facts about this system, 1 earlier goal, 2 commands with output, 1 note",
    ]
    assert world.seen_when_said[-1] == 0
    assert world.shown == ["hi"]


def test_commands_that_did_not_run_are_told_apart() -> None:
    declined = CommandItem(command_id="d", proposed="rm a", outcome="skipped")
    rehearsed = CommandItem(command_id="e", proposed="rm b", outcome="skipped", rehearsal="removes b")
    told = what_is_told(PlannerRequest(history=(GOAL, ran(), declined, rehearsed)))
    assert told == "this goal and facts about this system, 2 commands with output, 1 command that did not run"


def test_a_word_that_cannot_be_said_keeps_it_here() -> None:
    world = World(Fake("offline", NOTHING), Fake("local", PlannerError("x")), Fake("remote", Chat(message="hi")))

    async def broken(text: str) -> None:
        if "leaves" in text:
            raise CoreError("the log is full")

    async def ask() -> None:
        await world.planner.plan_telling(PlannerRequest(history=(GOAL,)), world.delta, broken)

    with pytest.raises(CoreError, match="the log is full"):
        asyncio.run(ask())
    assert world.remote.seen == []


def test_without_a_key_it_is_left_out() -> None:
    remote = Fake("remote", Chat(message="hi"))
    world = World(Fake("offline", NOTHING), Fake("local", ProviderError("local", "gone")), remote, missing="no key")
    assert world.ask(GOAL).reply == NOTHING  # what recipes said stands
    assert world.said[-1] == "remote is left out: no key"
    assert remote.seen == []
    assert world.shown == [NOTHING.message]


def test_an_unsure_command_is_no_last_resort_where_models_failed() -> None:
    weak = Command(command="rm x", confidence=0.2)
    world = World(Fake("offline", weak), Fake("local", PlannerError("a")), Fake("remote", ProviderError("remote", "b")))
    with pytest.raises(ProviderError, match="b"):
        world.ask(GOAL)


def test_cancelling_asks_nobody_else() -> None:
    world = World(Fake("offline", NOTHING), Fake("local", Cancelled()), Fake("remote", Chat(message="hi")))
    with pytest.raises(Cancelled):
        world.ask(GOAL)
    assert world.remote.seen == []


def test_within_a_goal_the_one_that_answered_goes_on() -> None:
    recipes = Fake("offline", NOTHING, SURE)
    local = Fake("local", Command(command="date"), Chat(message="done"))
    world = World(recipes, local, Fake("remote"))
    world.ask(GOAL)
    assert world.ask(GOAL, ran()).reply == Chat(message="done")
    assert len(recipes.seen) == 1
    assert world.ask(GoalItem(goal_id="g2", text="next")).reply is SURE  # a new goal begins at the front


@each(
    ("told", "code", "by"),
    [
        (Chat(message="done", reached=True), 0, "offline"),
        (Chat(message="done"), 0, "offline"),
        (Chat(message="nothing matched", reached=True), 1, "offline"),
        (Chat(message="it failed"), 1, "local"),
        (Chat(message="it failed", reached=False), 0, "local"),
        (Command(command="mkdir -p x && ls", confidence=0.8), 1, "offline"),
    ],
)
def test_after_a_recipe_ran(told: Reply, code: int, by: str) -> None:
    world = World(Fake("offline", SURE, told), Fake("local", Chat(message="model")), Fake("remote"))
    world.ask(GOAL)
    assert world.ask(GOAL, ran(code)).model == f"{by}:m"


def test_nobody_to_ask() -> None:
    with pytest.raises(ConfigError, match="empty"):
        CascadePlanner((), tell=World(Fake("a"), Fake("b"), Fake("c")).tell)


def test_names_are_made_harmless() -> None:
    local = Fake("evil\x1b[2J\nname", PlannerError("bad\x1b[31m"))
    world = World(Fake("offline", NOTHING), local, Fake("remote", NOTHING))
    world.ask(GOAL)
    assert not any("\x1b" in text or "\n" in text for text in world.said)


def test_what_is_told_of_the_first_goal() -> None:
    assert what_is_told(PlannerRequest(history=(GOAL,))) == "this goal and facts about this system"


def test_recipes_are_not_asked_for_calls() -> None:
    recipes, local = Fake("recipes"), Fake("local", Chat(message="done"))
    world = World(recipes, local, Fake("remote"))
    request = PlannerRequest(history=(GOAL,), instructions="mend", calls_only=True)
    reply = asyncio.run(world.planner.plan(request, world.delta))
    assert reply.model == "local:m"
    assert recipes.seen == []
