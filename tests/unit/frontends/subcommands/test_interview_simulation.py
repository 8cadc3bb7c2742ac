"""Simulated people are told as a table or as JSON; a model has to be one."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from agent.frontends.subcommands.interview_engines import run_simulation
from agent.planner.llm import LLMPlanner
from agent.protocol.errors import InvalidRequest, NotFound
from agent.providers.scripted import Scripted, ScriptedReply
from tests.support.fakes import FakePlanner
from tests.support.shipped_engines import EXAMPLE


class Plain:
    def redact(self, text: str) -> str:
        return text


def simulated(planner: Any = None, *, as_json: bool = False, **options: Any) -> int:
    async def shutdown() -> None:
        """Nothing is open."""

    app = SimpleNamespace(make_planner=lambda *_: planner or FakePlanner(), redactor=Plain())
    services: Any = SimpleNamespace(
        engine=SimpleNamespace(app=app), settings=SimpleNamespace(json=as_json), shutdown=shutdown
    )
    given = {"person": "terse", "turns": 30, "led_by": ""} | options
    return asyncio.run(run_simulation(services, str(EXAMPLE), **given))


def test_a_row_for_each_who_leads(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated() == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[:4] == ["person", "led", "by", "turns"]
    assert [each.split()[:2] for each in rows] == [["terse", "form"], ["terse", "script"]]


def test_as_json_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated(as_json=True, led_by="form", person="") == 0
    rows = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
    assert [each["person"] for each in rows] == [
        "terse",
        "rambling",
        "contradictory",
        "hostile",
        "non-native",
        "expert",
    ]
    assert {each["led_by"] for each in rows} == {"form"}
    assert rows[0]["phases"] == ["FEATURE_DISCOVERY", "VALUE_ASSESSMENT", "PRIORITIZATION"]


def test_the_model_of_the_settings_leads_and_plays(capsys: pytest.CaptureFixture[str]) -> None:
    said = ["We have search.", {"@repair": "none"}, "What is it worth?", "goodbye"]
    replies = [ScriptedReply(json=each) if isinstance(each, dict) else ScriptedReply(text=each) for each in said]
    model = LLMPlanner(Scripted(replies), "scripted", redactor=Plain())
    assert simulated(model, led_by="model", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["turns"] == 1


def test_without_a_model_none_can_lead() -> None:
    offline = FakePlanner()
    offline.name = "offline"
    with pytest.raises(InvalidRequest, match="the offline planner is no model"):
        simulated(offline, led_by="model")


def test_a_person_that_nobody_knows_is_told() -> None:
    with pytest.raises(NotFound, match="kind"):
        simulated(person="kind")


def test_no_turns_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="at least one turn"):
        simulated(turns=0)
