"""The offline planner stands in for a model whose server cannot be reached."""

from __future__ import annotations

import asyncio

import pytest

from agent.planner.cascade import stand_in
from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.errors import Echoed, PlannerError, ProviderError
from agent.protocol.messages import EnvironmentFacts, GoalItem, HistoryItem
from agent.protocol.replies import Chat, Command, PlannerReply
from agent.protocol.requests import PlannerRequest
from tests.unit.planner.offline.offline_support import ran

GONE = ProviderError("ollama", "nothing answers at 127.0.0.1:9", transport=True)


def ask(
    goal: str, *after: HistoryItem, failure: ProviderError | PlannerError = GONE
) -> tuple[PlannerReply, list[str], list[str]]:
    told: list[str] = []
    spoken: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    async def delta(text: str) -> None:
        spoken.append(text)

    item = GoalItem(goal_id="g", text=goal, environment=EnvironmentFacts(os="Linux", cwd="/tmp"))
    planner = OfflinePlanner(tools_present=lambda name: True)
    reply = asyncio.run(stand_in(failure, lambda: planner, PlannerRequest(history=(item, *after)), delta, tell))
    return reply, told, spoken


def test_what_recipes_know_is_proposed_with_a_word() -> None:
    reply, told, spoken = ask("count the lines of notes.txt")
    assert isinstance(reply.reply, Command)
    assert reply.model == "offline"
    assert told == ["ollama: nothing answers at 127.0.0.1:9; the offline planner takes over"]
    assert spoken == []


def test_what_came_of_a_command_is_said() -> None:
    reply, told, spoken = ask("count the lines of notes.txt", ran("wc -l notes.txt", stdout="3 notes.txt\n"))
    assert isinstance(reply.reply, Chat)
    assert spoken == [reply.reply.message]
    assert len(told) == 1


def test_the_failure_stands_where_recipes_know_nothing() -> None:
    with pytest.raises(ProviderError, match="nothing answers"):
        ask("zorble the frobnitz")


def test_a_model_that_only_echoes_its_instructions_is_replaced() -> None:
    reply, told, _ = ask("count the lines of notes.txt", failure=Echoed("the model only repeats its instructions"))
    assert isinstance(reply.reply, Command)
    assert told == ["the model only repeats its instructions; the offline planner takes over"]
    with pytest.raises(PlannerError, match="could not be used"):
        ask("count the lines of notes.txt", failure=PlannerError("the model's reply could not be used"))


def test_a_server_that_answers_is_not_replaced() -> None:
    with pytest.raises(ProviderError, match="the key was not accepted"):
        ask("count the lines of notes.txt", failure=ProviderError("openai", "the key was not accepted", status=401))
