from __future__ import annotations

import pytest

from agent.conversation.form.no_answers import asks_back, explained, taken_back
from agent.conversation.framework.state.working_memory import WorkingMemory
from tests.support.interview_case import engine, known, state
from tests.support.interview_talk import Talk
from tests.support.shipped_engines import shipped

CONFIG = engine()


def talk() -> WorkingMemory:
    learnt = {
        "problem": known("orders get lost", turn=1),
        "users.main": known("thirty drivers", turn=2),
        "trigger": known("a letter", turn=3),
    }
    return state(CONFIG, learnt, turn_number=4)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("message", ["The main user is a robot", "Jobs are lost", "no", "", "Scratch that"])
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("message", ["what do you mean by that?", "why do you ask?", "Which problem?"])
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
