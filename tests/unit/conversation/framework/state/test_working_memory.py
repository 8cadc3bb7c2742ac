"""The state of an interview is plain data, the same when it is read again, and does not grow with the turns."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.state.working_memory import (
    Completeness,
    ExtractedField,
    PhaseState,
    PhaseVisit,
    Superseded,
    create_empty_working_memory,
    from_data,
    to_data,
)
from tests.support.each import each
from tests.support.interview_case import engine, known, state

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def fields(draw: st.DrawFn) -> ExtractedField:
    before = Superseded(value=draw(VALUES), at_turn=draw(st.integers(0, 9)))
    return ExtractedField(
        value=draw(VALUES),
        confidence=draw(st.floats(0, 1)),
        extracted_from_turns=tuple(draw(st.lists(st.integers(0, 500), max_size=3))),
        last_updated_at_turn=draw(st.integers(0, 500)),
        superseded_previous=draw(st.none() | st.just(before)),
        reasoning=draw(st.text(max_size=9)),
        evidence=draw(st.text(max_size=9)),
    )


@pytest.mark.covers("S3-25", "S3-26", "S3-28")
@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.text(max_size=9), fields() | st.lists(fields(), max_size=2).map(tuple), max_size=3))
def test_a_state_is_the_same_when_it_is_read_again(extraction: Any) -> None:
    visit = PhaseVisit(phase_id="A", entered_at_turn=0, exited_at_turn=3, turns_in_phase=3, completeness=0.2)
    phase = PhaseState(current="B", turns_in_phase=1, entered_at_turn=3, history=(visit,))
    memory = state(engine(), extraction, {"problem": "partial"}, phase=phase, turn_number=4)
    assert from_data(json.loads(json.dumps(to_data(memory)))) == memory


@pytest.mark.covers("S3-26", "S3-27", "S3-28", "S3-29")
def test_a_new_state_is_empty() -> None:
    memory = create_empty_working_memory(engine(), "session", "project")
    assert (memory.engine_id, memory.engine_version, memory.engine_type) == ("sample", "1.0.0", "extract-dominant")
    assert (memory.session_id, memory.project_id, memory.turn_number) == ("session", "project", 0)
    assert memory.phase == PhaseState(current="A")
    assert (memory.extraction, memory.completeness, memory.inbound_handoff) == ({}, Completeness(), None)
    assert [(each.id, each.status, each.required) for each in memory.obligations.items] == [
        ("problem", "pending", True),
        ("trigger", "pending", False),
        ("users", "pending", True),
    ]
    assert (memory.techniques.active, memory.background_tasks.pending, memory.context.tokens) == ((), (), 0)
    assert 0 <= memory.socio_emotional.trust <= 1


@pytest.mark.covers("S3-26")
def test_names_are_those_of_the_specification() -> None:
    data = to_data(state(engine(), {"problem": known("slow")}, turn_number=4))
    assert set(data["extraction"]["problem"]) == {
        "value",
        "confidence",
        "extractedFromTurns",
        "lastUpdatedAtTurn",
        "evidence",
    }
    assert {"engineId", "turnNumber", "phase", "obligations"} <= set(data)


def test_values_are_found_by_their_path() -> None:
    memory = state(engine(), {"problem": known("slow"), "users.jobs": (known("plan"), known("bill"))})
    assert (memory.value("problem"), memory.value("users.jobs"), memory.value("x", 3)) == ("slow", ["plan", "bill"], 3)
    assert memory.extracted("users.jobs") is None
    assert [each.value for each in memory.items("users.jobs")] == ["plan", "bill"]
    assert (memory.items("problem"), memory.items("x")) == ((), ())


@each("data", [[], {}, {"engineId": 3}, "x", None])
def test_what_is_no_state_is_refused(data: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        from_data(data)
