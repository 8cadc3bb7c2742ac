"""The state of an interview comes out of its log as it was, whatever changed in it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.events.interview import InterviewStarted, InterviewTurned
from agent.recording.interview_turns import difference, folded
from tests.support.each import each

NAMES = st.sampled_from("abcd")
LEAVES = st.integers() | st.text(max_size=3) | st.none()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
STATES = st.dictionaries(NAMES, VALUES, max_size=4)


def turned(**changes) -> InterviewTurned:
    return InterviewTurned(turn=1, phase="A", completeness=0, **changes)


@settings(max_examples=80)
@given(st.lists(STATES, min_size=1, max_size=5))
def test_a_state_is_what_its_changes_make_of_it(states):
    log = [InterviewStarted(engine="e", state=states[0])]
    log += [turned(difference=difference(before, after)) for before, after in pairwise(states)]
    state = {}
    for event in log:
        state = folded(state, event)
    assert state == states[-1]


def test_what_stays_is_not_told_again():
    before = {
        "turn": 1,
        "engine": "e",
        "gone": 1,
        "extraction": {"a": [1], "b": 2},
        "owed": [{"id": "x", "is": "open"}, {"id": "y"}],
    }
    after = {
        "turn": 2,
        "engine": "e",
        "extraction": {"a": [1], "c": 3},
        "owed": [{"id": "x", "is": "done"}, {"id": "y"}, {"id": "z"}],
    }
    assert difference(before, after) == {
        "gone": None,
        "turn": [2],
        "extraction": {"b": None, "c": [3]},
        "owed": {"0": {"is": ["done"]}, "2": [{"id": "z"}]},
    }
    assert folded(before, turned(difference=difference(before, after))) == after


def test_a_list_that_is_another_is_told_whole():
    assert difference({"window": [1, 2, 3]}, {"window": [2, 3, 4]}) == {"window": [[2, 3, 4]]}


def test_logs_of_earlier_versions_are_read():
    state = {"turnNumber": 1, "offered": "planner", "extraction": {"a": 1, "b": 2}}
    event = turned(changes={"turnNumber": 2, "offered": None}, extraction={"b": None, "c": 3})
    assert folded(state, event) == {"turnNumber": 2, "extraction": {"a": 1, "c": 3}}


@each(
    "told",
    [
        {"a": 5},
        {"a": {"x": {"9": [1]}}},
        {"b": {"one": [1], "-1": [2], "99999999999": [3], "7": [4]}},
        {"b": []},
        {"c": {"d": {"e": [1]}}},
    ],
)
def test_what_no_turn_wrote_breaks_nothing(told):
    assert isinstance(folded({"a": 1, "b": [1, 2]}, turned(difference=told)), dict)
