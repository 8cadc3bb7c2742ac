"""What takes an answer back is read by the names and values that are known: which field it is about, and what is so instead."""

from __future__ import annotations

import pytest

from agent.conversation.form.taking_back import taken_back
from agent.conversation.framework.state.working_memory import WorkingMemory
from tests.support.interview_case import engine, known, state

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
