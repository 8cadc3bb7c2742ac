"""The state of an interview comes out of its log as it was, whatever changed in it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.events.interview import InterviewStarted, InterviewTurned
from agent.recording.interview_fold import difference, folded

VALUES = st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
NAMES = st.sampled_from("abcd")
STATES = st.builds(
    lambda keys, fields: keys | ({"extraction": fields} if fields else {}),
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.dictionaries(NAMES, VALUES, max_size=4),
)


@settings(max_examples=60)
@given(st.lists(STATES, min_size=1, max_size=5))
def test_a_state_is_what_its_changes_make_of_it(states):
    log = [InterviewStarted(engine="e", state=states[0])]
    for before, after in pairwise(states):
        changes, fields = difference(before, after)
        log.append(InterviewTurned(turn=1, phase="A", completeness=0, changes=changes, extraction=fields))
    state = {}
    for event in log:
        state = folded(state, event)
    assert {key: value for key, value in state.items() if value != {}} == states[-1]


def test_what_stays_is_not_told_again():
    before = {"turnNumber": 1, "engineId": "e", "extraction": {"a": 1, "b": 2}}
    after = {"turnNumber": 2, "engineId": "e", "extraction": {"a": 1, "c": 3}}
    assert difference(before, after) == ({"turnNumber": 2}, {"b": None, "c": 3})
