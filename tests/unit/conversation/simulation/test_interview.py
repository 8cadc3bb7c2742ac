"""Simulated people go through engines in the real runner: nothing fails, nothing leaks, nothing is made up, and many are held at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.conversation.framework.state.ports import AgentReply
from agent.conversation.simulation.interview import FormLeads, Leader, ModelLeads, ScriptLeads, held
from agent.conversation.simulation.outcome import Outcome, row
from agent.conversation.simulation.people import facts_of, made_up, people, person_named
from agent.conversation.simulation.person import PlayedPerson, SimulatedPerson
from agent.protocol.errors import PlannerError
from tests.support.shipped_engines import ENGINES, loaded
from tests.support.simulated_people_page import PAGE, outcomes, simulated_people_page


def leader(name: str, key: str) -> Leader:
    return FormLeads() if name == "form" else ScriptLeads(key)


async def one(engine_id: str, person: str, led_by: str, **more: Any) -> Outcome:
    engine, manner = loaded(engine_id), person_named(person)
    who = SimulatedPerson(engine.config, facts_of(engine), manner)
    return await held(engine, who, leader(led_by, f"{engine_id} {person}"), **more)


def test_a_terse_person_gets_through_the_example_with_the_form() -> None:
    found = asyncio.run(one("feature-prioritization", "terse", "form"))
    assert found.ready_at and found.completeness == 1.0
    assert len(found.phases) == found.phases_there_are
    assert (found.missed, found.never_asked, found.wrong, found.failed) == ((), (), (), ())
    assert set(row(found)) == {
        "person", "led by", "turns", "ready at", "known", "phases", "missed", "changes", "repairs", "wrong",
    }  # fmt: skip


def test_a_hostile_person_fills_nothing_in_and_no_password_is_kept_with_a_model() -> None:
    found = asyncio.run(one("project-discovery", "hostile", "script"))
    assert (found.wrong, found.leaks, found.failed) == ((), (), ())


def test_the_most_turns_end_it() -> None:
    assert asyncio.run(one("ideation", "expert", "form", turns=3)).turns == 3


def test_a_leader_that_never_answers_is_left() -> None:
    class Silent(FormLeads):
        def deps(self, engine: Any) -> dict[str, Any]:
            async def say(prompt: str) -> AgentReply:
                raise PlannerError("it is down")

            return super().deps(engine) | {"run_main_agent": say}

    engine = loaded("exploration")
    who = SimulatedPerson(engine.config, made_up(engine.config), person_named("terse"))
    found = asyncio.run(held(engine, who, Silent()))
    assert found.turns == 0


def test_a_model_leads_and_plays_the_person() -> None:
    asked: list[str] = []

    async def complete(prompt: str, schema: dict[str, Any] | None) -> str:
        asked.append(prompt)
        if "You play a person" in prompt:
            return "Members renew by themselves." if len(asked) < 3 else "Goodbye."
        return "What else?" if schema is None else '{"@repair": "none"}'

    engine = loaded("exploration")
    facts = facts_of(engine)
    person = PlayedPerson(engine.config, facts, person_named("terse"), complete)
    found = asyncio.run(held(engine, person, ModelLeads(complete, 8_000)))
    assert (found.turns, found.led_by, found.wrong) == (1, "model", ())
    assert "- Goal: members renew by themselves" in asked[0] and "says as little as possible" in asked[0]


@pytest.mark.thorough
@pytest.mark.parametrize("engine_id", ENGINES)
def test_every_person_gets_through_every_engine(engine_id: str) -> None:
    for found in outcomes(engine_id):
        assert (found.failed, found.leaks) == ((), ()), found
        if found.led_by == "script":
            assert (found.wrong, found.never_asked) == ((), ()), found


@pytest.mark.thorough
@pytest.mark.parametrize("engine_id", ENGINES)
def test_people_who_know_only_what_is_made_up_get_through_it_as_well(engine_id: str) -> None:
    engine = loaded(engine_id)
    for manner in people():
        for name in ("form", "script"):
            person = SimulatedPerson(engine.config, made_up(engine.config), manner)
            found = asyncio.run(held(engine, person, leader(name, manner.name)))
            assert (found.failed, found.leaks) == ((), ()), found


@pytest.mark.thorough
def test_a_hundred_interviews_at_once_go_as_they_go_alone() -> None:
    every = [(engine, each.name, led) for engine in ENGINES for each in people() for led in ("form", "script")]
    hundred = (every * 2)[:100]

    async def at_once() -> list[Outcome]:
        return await asyncio.gather(*(one(*each, session=f"s{at}") for at, each in enumerate(hundred)))

    alone = {each: asyncio.run(one(*each)) for each in every}
    assert asyncio.run(at_once()) == [alone[each] for each in hundred]


@pytest.mark.thorough
def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == simulated_people_page(), "run `make simulated-people`"
