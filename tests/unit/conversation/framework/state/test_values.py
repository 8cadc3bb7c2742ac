from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.framework.state.values import (
    as_text,
    as_texts,
    confidence_of,
    found,
    is_known,
    known_values,
    says_something,
    share,
    texts,
)
from tests.support.each import each
from tests.support.interview_case import engine, known, state


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "yes"),
        (False, "no"),
        (3, "3"),
        (3.0, "3"),
        (2.5, "2.5"),
        (float("inf"), "inf"),
        (" a\n b\t", "a b"),
        (["a", "", [], 2], "a; 2"),
        ([], "none"),
        ({"name": "a", "why": None, "n": 1}, "name: a, n: 1"),
        ({"name": "a", "why": None}, "a"),
        ({"search": 5}, "search: 5"),
        ([[[[["deep"]]]]], "…"),
        pytest.param(10**5000, "…", id="huge"),
        ("\x00\u202e\ud800", "␀<U+202E><U+D800>"),
    ],
)
def test_a_value_is_one_line(value: Any, text: str) -> None:
    assert as_text(value) == text


def test_it_is_short_whatever_it_holds() -> None:
    huge = {"a" * 10_000: ["b" * 10_000] * 1000}
    assert len(as_text(huge)) == 500
    assert len(as_texts(["x"] * 1000)) == 50


def test_a_path_leads_into_fields_items_and_objects() -> None:
    memory = state(
        engine(),
        {
            "decision.made": known({"option": "A", "why": {"first": "cheap"}}),
            "options": (known({"name": "A"}), known({"name": ""}), known({"name": "B"})),
            "list": known(["x", "y"]),
            "empty": known("  "),
        },
    )
    assert list(texts(memory, "decision.made.option")) == ["A"]
    assert list(texts(memory, "decision.made.why.first")) == ["cheap"]
    assert list(texts(memory, "options.name")) == ["A", "B"]
    assert list(texts(memory, "list")) == ["x", "y"]
    assert [each.value for each in found(memory, "list")] == [["x", "y"]]
    for path in ("empty", "decision", "decision.made.none", "list.x", "", "."):
        assert found(memory, path) == ()


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_no_value_breaks_it(value: Any) -> None:
    text = as_text(value)
    assert "\n" not in text and len(text) <= 500


CONFIG = engine()


@each(
    ("number", "shared"),
    [(0.4, 0.4), (-1, 0), (7, 1), (float("nan"), 0), (float("inf"), 1), (float("-inf"), 0)],
)
def test_shares_are_within_0_and_1(number: float, shared: float) -> None:
    assert share(number) == shared


@each(
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
@each(("confidence", "sure"), [(0, False), (0.69, False), (0.7, True), (1, True)])
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
