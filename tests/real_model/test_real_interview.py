"""A real small model leads an interview and plays the person: whatever it says, the turns go through, and nothing leaks."""

from __future__ import annotations

import asyncio
from typing import Any

from agent.conversation.simulation.interview import ModelLeads, held
from agent.conversation.simulation.outcome import Outcome
from agent.conversation.simulation.people import facts_of, person_named
from agent.conversation.simulation.person import PlayedPerson, SimulatedPerson
from agent.protocol.messages import ChatMessage
from agent.protocol.replies import TextDelta
from agent.protocol.requests import ProviderRequest
from tests.real_model.test_held_model import held as held_model
from tests.real_model.test_held_model import model_file, pytestmark  # noqa: F401  # marks this module as well
from tests.support.shipped_engines import loaded


def interview(*, played: bool, turns: int) -> Outcome:
    engine, manner = loaded("feature-prioritization"), person_named("terse")

    async def run() -> Outcome:
        model = held_model(model_file())

        async def complete(prompt: str, schema: dict[str, Any] | None) -> str:
            message = ChatMessage(role="user", content=prompt)
            request = ProviderRequest(model="", messages=(message,), max_output_tokens=200, schema=schema)
            return "".join([each.text async for each in model.stream(request) if isinstance(each, TextDelta)])

        facts = facts_of(engine)
        person = (
            PlayedPerson(engine.config, facts, manner, complete)
            if played
            else SimulatedPerson(engine.config, facts, manner)
        )
        try:
            return await held(engine, person, ModelLeads(complete, 4_096), turns=turns)
        finally:
            await model.aclose()

    return asyncio.run(run())


def test_it_leads_and_a_person_answers() -> None:
    found = interview(played=False, turns=2)
    assert (found.led_by, found.failed, found.leaks) == ("model", (), ())
    assert found.turns <= 2


def test_it_plays_the_person_as_well() -> None:
    found = interview(played=True, turns=1)
    assert found.failed == ()
