"""Answers are read by the type of their fields, and nothing else is made of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.form_answers import asks_back, corrections, explained, read_answer, taken_back
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory
from tests.support.each import each
from tests.support.interview_case import engine, known, state
from tests.support.interview_talk import Talk
from tests.support.shipped_engines import shipped


def field(value_type: str = "string", **more: Any) -> FieldDefinition:
    data = {"path": "x", "displayName": "X", "description": "x", "valueType": value_type, "question": "Which?"} | more
    return msgspec.convert(data, FieldDefinition)


PAIR = {"option": "string", "why": "string"}
CHOICES = {"choices": ["Web", "Desktop", "Command line"]}


@each(
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


CONFIG = engine()


def talk() -> WorkingMemory:
    learnt = {
        "problem": known("orders get lost", turn=1),
        "users.main": known("thirty drivers", turn=2),
        "trigger": known("a letter", turn=3),
    }
    return state(CONFIG, learnt, turn_number=4)


@each(
    ("message", "path", "value"),
    [
        ("No, I meant a call", "trigger", "a call"),
        ("No, I meant a call, not a letter", "trigger", "a call"),
        ("Scratch that, Main user is not thirty drivers but the shift leaders", "users.main", "shift leaders"),
        ("Correction: the main user is shift leaders, not thirty drivers", "users.main", "shift leaders"),
        ("Actually, the problem: invoices get lost", "problem", "invoices get lost"),
        ("Actually, about the problem, it is that invoices get lost", "problem", "invoices get lost"),
        ("Scratch that, problem", "problem", "problem"),
    ],
)
def test_the_field_that_is_named_is_corrected_else_the_one_before(message: str, path: str, value: str) -> None:
    found = taken_back(talk(), CONFIG, message)
    assert found is not None
    assert (found[0].path, found[1]) == (path, value)


@each("message", ["The main user is a robot", "Jobs are lost", "no", "", "Scratch that"])
def test_what_is_no_correction_takes_nothing_back(message: str) -> None:
    assert taken_back(talk(), CONFIG, message) is None


def test_a_field_that_is_not_known_cannot_be_taken_back() -> None:
    found = taken_back(talk(), CONFIG, "Actually, jobs are counting")
    assert found is not None and found[0].path == "trigger"
    assert taken_back(state(CONFIG), CONFIG, "No, I meant a call") is None


DISCOVERY = shipped("project-discovery")
PROBLEM = "purposeAndProblem.coreProblem"
FIELD = DISCOVERY.field(PROBLEM)
assert FIELD is not None


@each(
    "message",
    [
        "what do you mean by that?",
        "Why?",
        "Why do you want to know?",
        "Which problem?",
        "Sorry, what? What is a problem here?",
        "Can you give an example?",
        "For whom?",
    ],
)
def test_a_question_about_the_question_asks_back(message: str) -> None:
    assert asks_back(message, FIELD)


@each(
    "message",
    [
        "",
        "Parcels get lost",
        "Parcels get lost. You know what I mean?",
        "How does it work without a network?",
        "A mobile app?",
        "What do members ask at the desk?",
        "why " * 100 + "?",
    ],
)
def test_what_has_words_of_its_own_is_an_answer(message: str) -> None:
    assert not asks_back(message, FIELD)


def test_it_is_answered_with_the_description_and_why() -> None:
    assert explained(FIELD, DISCOVERY) == [
        f"Core problem: {FIELD.description}",
        "It is asked because the result needs it: The problem that is to be solved.",
    ]


@each("message", ["what do you mean by that?", "why do you ask?", "Which problem?"])
def test_the_form_explains_itself_stores_nothing_and_asks_again(message: str) -> None:
    talk = Talk("project-discovery")
    talk.say("hello")
    said = talk.say(message).response_text
    assert said.splitlines()[0].startswith("Core problem: ") and said.endswith(FIELD.question)
    assert not talk.memory.extraction and talk.memory.asked == PROBLEM
    talk.say("Parcels get lost")
    assert talk.memory.value(PROBLEM) == "Parcels get lost"


@pytest.mark.parametrize("put_off", ["skip", "I don't know"])
def test_back_after_a_skip_is_the_question_that_was_skipped(put_off: str) -> None:
    talk = Talk("project-discovery")
    talk.say("hello", "Parcels get lost")
    skipped = talk.memory.asked
    talk.say(put_off)
    assert talk.memory.asked not in (skipped, PROBLEM)
    talk.say("go back")
    assert talk.memory.asked == skipped and skipped not in talk.memory.put_off
    assert talk.say("go back").response_text.startswith("So far: Parcels get lost")
    assert talk.memory.asked == PROBLEM
