"""Answers are read by the type of their fields, and nothing else is made of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.form.answers import corrections, read_answer
from agent.conversation.framework.state.configuration import FieldDefinition
from tests.support.interview_case import engine


def field(value_type: str = "string", **more: Any) -> FieldDefinition:
    data = {"path": "x", "displayName": "X", "description": "x", "valueType": value_type, "question": "Which?"} | more
    return msgspec.convert(data, FieldDefinition)


PAIR = {"option": "string", "why": "string"}
CHOICES = {"choices": ["Web", "Desktop", "Command line"]}


@pytest.mark.parametrize(
    ("definition", "message", "value", "confidence"),
    [
        (field(), " Clerks in the office. ", "Clerks in the office.", 0.95),
        (field(), "  ", None, 0),
        (field("number"), "about 1,200 orders", 1200, 0.95),
        (field("number"), "50k", 50_000, 0.95),
        (field("number"), "between 5 and 6", None, 0),
        (field("number"), "many", None, 0),
        (field("boolean"), "Yes, of course", True, 0.95),
        (field("boolean"), "no!", False, 0.95),
        (field("boolean"), "perhaps", None, 0),
        (field("boolean"), "Ja, correct", True, 0.95),
        (field("boolean"), "Hm, no, not quite", False, 0.95),
        (field("boolean"), "it is not to be said, yes", None, 0),
        (field("boolean"), "", None, 0),
        (field("array"), "speed, price and looks", ["speed", "price and looks"], 0.95),
        (field("array"), "fast, cheap; good", ["fast, cheap", "good"], 0.95),
        (field("array"), "- fast, cheap\n\n2) good\n* small", ["fast, cheap", "good", "small"], 0.95),
        (field("array"), "None.", [], 0.95),
        (field("array"), "Short answer:\n- fast\n- cheap", ["fast", "cheap"], 0.95),
        (field("array"), "In the end it is this: fast, cheap", ["fast", "cheap"], 0.95),
        (field("array"), "shift: early", ["shift: early"], 0.95),
        (field("array"), "shift: early, place: yard", ["shift: early", "place: yard"], 0.95),
        (field("array"), "search - a quick one; 3. export", ["search - a quick one", "3. export"], 0.95),
        (field("array"), "", None, 0),
        (field(**CHOICES), "2", "Desktop", 0.95),
        (field(**CHOICES), "3)", "Command line", 0.95),
        (field(**CHOICES), "web", "Web", 0.95),
        (field(**CHOICES), "command", "Command line", 0.8),
        (field(**CHOICES), "dekstop", "Desktop", 0.8),
        (field(**CHOICES), "The desktop, I would say, as ever", "Desktop", 0.8),
        (field(**CHOICES), "Well, the command line first of all", "Command line", 0.8),
        (field(**CHOICES), "The web or the desktop", None, 0),
        (field(**CHOICES), "Everything, but not the desktop", None, 0),
        (field(**CHOICES), "4", None, 0),
        (field(**CHOICES), "0", None, 0),
        (field(**CHOICES), "phone", None, 0),
        (field(**CHOICES), "", None, 0),
        (field("array", **CHOICES), "1, desktop", ["Web", "Desktop"], 0.95),
        (field("object", itemProperties=PAIR), "A, as it is cheap", {"option": "A, as it is cheap"}, 0.95),
        (field("object", itemProperties=PAIR), "option: A\nWhy: cheap", {"option": "A", "why": "cheap"}, 0.95),
        (field("object", itemProperties=PAIR), "A; it is cheap; it lasts", {"option": "A", "why": "it is cheap; it lasts"}, 0.95),
        (field("object", itemProperties=PAIR), " ; ", None, 0),
        (field("object"), "a thing", {"text": "a thing"}, 0.95),
        (field("object"), "search 5; full text: 4.5; 2 - x = low", {"search": 5, "full text": 4.5, "2 - x": "low"}, 0.95),
        (field("array", itemKey="name", itemProperties={"name": "string"}), "A; B", [{"name": "A"}, {"name": "B"}], 0.95),
    ],
)  # fmt: skip
def test_an_answer_is_read_by_the_type_of_its_field(
    definition: FieldDefinition, message: str, value: Any, confidence: float
) -> None:
    answer = read_answer(definition, message)
    assert (answer.value if answer else None) == value
    assert (answer.confidence if answer else 0) == confidence
    assert answer is None or answer.evidence == message.strip()


@given(
    st.sampled_from(("string", "number", "boolean", "array", "object")),
    st.sampled_from(({}, CHOICES, {"itemProperties": {"name": "string"}, "itemKey": "name"})),
    st.text(max_size=60),
)
def test_any_message_is_an_answer_or_none(value_type: str, more: dict[str, Any], message: str) -> None:
    answer = read_answer(field(value_type, **more), message)
    assert answer is None or (0 < answer.confidence <= 1 and answer.value is not None)


def test_an_enormous_answer_is_read_in_bounds() -> None:
    for definition in (field("array", **CHOICES), field("array"), field("object", itemProperties=PAIR), field()):
        for message in ("wbe," * 100_000, "a: b\n" * 100_000, "x" * 1_000_000, ";\n" * 100_000):
            answer = read_answer(definition, message)
            assert answer is None or len(msgspec.json.encode(answer)) < 250_000


def test_corrections_name_their_fields_and_leave_the_rest() -> None:
    config = engine()
    found, rest = corrections(config, "main USER: Clerks\nnothing: x\n- trigger: now\nProblem:\nusers.jobs: a; b")
    assert [(each.path, text) for each, text in found] == [
        ("users.main", "Clerks"),
        ("trigger", "now"),
        ("users.jobs", "a; b"),
    ]
    assert rest == "nothing: x\nProblem:"
    assert len(corrections(config, "problem: x\n" * 1000)[0]) == 50


def test_a_list_may_stand_below_its_name() -> None:
    found, rest = corrections(engine(), "sell\nMain user:\n- clerks\n- buyers\nThat is all\nTrigger:\nnothing")
    assert [(each.path, text) for each, text in found] == [("users.main", "- clerks\n- buyers")]
    assert rest == "sell\nThat is all\nTrigger:\nnothing"
