"""Values of any type are read as lines of text, and found by paths that lead into objects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.framework.state.values import as_text, as_texts, found, texts
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
