"""Tell two states of an interview apart, and put a state together again from what its log says: plain data both."""

from __future__ import annotations

from typing import Any

from agent.protocol.events.interview import InterviewStarted, InterviewTurned

State = dict[str, Any]
_FIELDS = "extraction"


def difference(before: State, after: State) -> tuple[State, State]:
    """Return the changed keys with their new values, and those within the extraction; None for what is gone."""
    changes = _changed({**before, _FIELDS: None}, {**after, _FIELDS: None})
    return changes, _changed(before.get(_FIELDS, {}), after.get(_FIELDS, {}))


def folded(state: State, event: InterviewStarted | InterviewTurned) -> State:
    """Return the state after `event`."""
    if isinstance(event, InterviewStarted):
        return event.state
    fields = _applied(state.get(_FIELDS, {}), event.extraction)
    return _applied({**state, _FIELDS: fields}, event.changes)


def _changed(before: State, after: State) -> State:
    gone = dict.fromkeys(key for key in before if key not in after)
    return gone | {key: value for key, value in after.items() if key not in before or before[key] != value}


def _applied(state: State, changes: State) -> State:
    known = {key: value for key, value in state.items() if key not in changes}
    return known | {key: value for key, value in changes.items() if value is not None}
