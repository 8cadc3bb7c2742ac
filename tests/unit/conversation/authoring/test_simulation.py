"""Simulated conversations reach what can be reached, and nothing else."""

from __future__ import annotations

from typing import Any

from agent.conversation.authoring.simulation import Reached, simulate
from agent.conversation.framework.extraction.extraction_values import read_value
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.simulation.people import example
from tests.support.each import each
from tests.support.interview_case import engine


def phase(name: str, order: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "displayName": name, "order": order, "modeBlend": {"extract": 100}, **more}


def test_the_sample_gets_everywhere() -> None:
    assert simulate(engine()) == Reached(phases={"A", "B", "C"}, exits=set(), completeness=1.0, ready=True)


def test_slow_and_quick_people_take_other_ways() -> None:
    slow = {"type": "turn_count", "minTurns": 5, "target": "C"}
    quick = {"type": "completeness_score", "minCompleteness": 0.9, "target": "B"}
    phases = [phase("A", 1, transitionTriggers=[slow, quick]), phase("B", 2), phase("C", 3)]
    assert simulate(engine(phases=phases)).phases == {"A", "B", "C"}


def test_a_wish_is_said_in_some_conversation() -> None:
    wishes = [{"type": "field_equals", "path": "trigger", "value": each} for each in ("law", "money")]
    leaving = [{"targetEngine": "planner", "condition": each, "reason": "They said so"} for each in wishes]
    assert simulate(engine(exitTransitions=leaving)).exits == {0, 1}


def test_evaluators_rise() -> None:
    trigger = {"type": "custom_evaluator", "evaluatorName": "e", "threshold": 1.0}
    config = engine(phases=[phase("A", 1, transitionTriggers=[trigger]), phase("B", 2)], customEvaluators=["e"])
    assert simulate(config).phases == {"A", "B"}


def test_a_circle_ends_the_conversation() -> None:
    always = {"type": "completeness_score", "minCompleteness": 0.5}
    back = always | {"target": "A"}
    found = simulate(
        engine(phases=[phase("A", 1, transitionTriggers=[always]), phase("B", 2, transitionTriggers=[back])])
    )
    assert set(found.circle) == {"A", "B"}


@each(
    "model",
    [
        {"type": "coverage", "coveredField": "users.jobs", "scopeField": "users.jobs", "scope": ["sales"]},
        {"type": "saturation", "turns": 4},
        {"type": "profile", "dimensions": [{"id": "d", "weight": 1, "fields": ["users", "trigger"]}]},
        {"type": "estimability", "heuristics": [{"id": "d", "weight": 1, "field": "problem"}]},
        {"type": "maturity", "levels": [{"id": "a"}, {"id": "b", "criteria": [{"type": "turn_count", "minTurns": 3}]}]},
        {"type": "decision-readiness", "heuristics": [{"id": "d", "weight": 1, "evaluator": "e"}]},
    ],
)
def test_every_model_gets_ready(model: dict[str, Any]) -> None:
    found = simulate(engine(completenessModel={"readyThreshold": 1.0} | model, customEvaluators=["e"]))
    assert (found.ready, found.completeness) == (True, 1.0)


@each(
    "more",
    [
        {"value_type": "string"},
        {"value_type": "string", "choices": ("a", "b")},
        {"value_type": "number"},
        {"value_type": "boolean"},
        {"value_type": "array"},
        {"value_type": "array", "choices": ("a", "b")},
        {"value_type": "array", "item_key": "name", "item_properties": {"name": "string", "size": "number"}},
        {"value_type": "object"},
        {"value_type": "object", "item_properties": {"sure": "boolean"}},
    ],
)
def test_examples_are_what_a_field_takes(more: Any) -> None:
    field = FieldDefinition(path="f", display_name="F", description="F", **more)
    assert read_value(field, example(field)) == example(field)
