"""A field is known when something was said, and surely enough."""

from __future__ import annotations

from typing import Any

import pytest

from agent.conversation.framework.state.known import confidence_of, is_known, known_values, says_something, share
from tests.support.interview_case import engine, known, state

CONFIG = engine()


@pytest.mark.parametrize(
    ("number", "shared"),
    [(0.4, 0.4), (-1, 0), (7, 1), (float("nan"), 0), (float("inf"), 1), (float("-inf"), 0)],
)
def test_shares_are_within_0_and_1(number: float, shared: float) -> None:
    assert share(number) == shared


@pytest.mark.parametrize(
    ("value", "evidence", "said"),
    [
        ("x", "", True),
        (" \n", "well", False),
        (0, "", True),
        (False, "", True),
        (None, "nothing", False),
        ([], "", False),
        ([], " ", False),
        ([], "there are none", True),
        ({}, "", False),
        ({"a": 1}, "", True),
    ],
)
def test_a_blank_is_no_answer_but_none_is_one_where_it_was_said(value: Any, evidence: str, said: bool) -> None:
    assert says_something(known(value, evidence=evidence)) is said


@pytest.mark.covers("S3-67")
@pytest.mark.parametrize(("confidence", "sure"), [(0, False), (0.69, False), (0.7, True), (1, True)])
def test_a_threshold_has_to_be_reached(confidence: float, sure: bool) -> None:
    memory = state(CONFIG, {"problem": known("slow", confidence), "nowhere": known("x", confidence)})
    assert is_known(memory, CONFIG, "problem") is is_known(memory, CONFIG, "nowhere") is sure
    assert list(known_values(memory, CONFIG, "problem")) == (["slow"] if sure else [])


def test_of_items_the_surest_counts_and_only_sure_ones_are_values() -> None:
    memory = state(CONFIG, {"users.jobs": (known("plan", 0.9), known("bill", 0.2), known(["a", "b"], 0.8))})
    assert confidence_of(memory, "users.jobs") == 0.9
    assert list(known_values(memory, CONFIG, "users.jobs")) == ["plan", "a", "b"]
    assert confidence_of(memory, "problem") == 0
    assert not is_known(memory, CONFIG, "problem")


def test_a_threshold_of_0_still_needs_a_value() -> None:
    fields = [{"path": "f", "displayName": "F", "description": "F", "valueType": "string", "confidenceThreshold": 0}]
    config = engine(extractionSchema={"fields": fields})
    assert not is_known(state(config), config, "f")
    assert is_known(state(config, {"f": known("x", 0.1)}), config, "f")
    assert not is_known(state(config, {"f": known("x", 0)}), config, "f")
    assert list(known_values(state(config, {"f": known("x", 0)}), config, "f")) == []
