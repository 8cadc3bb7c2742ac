"""Tell two states of an interview apart, and put a state together again from what its log says: plain data both.

A difference has the keys in which two objects differ: a value that is new as the only item of a list, None for what is gone, and where
object or list stay and something within changed, the difference of those. Items of a list are named by their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.protocol.events.interview import InterviewStarted, InterviewTurned
from agent.protocol.messages import GoalItem, HistoryItem

State = dict[str, Any]
_EARLIER_FIELDS = "extraction"
_DEEPEST = 16  # a difference of a log that somebody wrote may go on


def difference(before: State, after: State) -> State:
    """Return what has to be told of `after` to somebody who knows `before`."""
    gone = dict.fromkeys(key for key in before if key not in after)
    return gone | {
        key: _told(before.get(key), value) for key, value in after.items() if key not in before or before[key] != value
    }


def folded(state: State, event: InterviewStarted | InterviewTurned) -> State:
    """Return the state after `event`."""
    if isinstance(event, InterviewStarted):
        return event.state
    if event.changes or event.extraction:  # of an earlier version
        fields = _with_values(state.get(_EARLIER_FIELDS, {}), event.extraction)
        state = _with_values({**state, _EARLIER_FIELDS: fields}, event.changes)
    return _applied(state, event.difference, 0)


def said_until(history: Sequence[HistoryItem], goal_id: str) -> list[HistoryItem]:
    """Return what was said up to the answer to the message `goal_id`; nothing where that is not there."""
    found = list[HistoryItem]()
    reached = False
    for item in history:
        if isinstance(item, GoalItem):
            if reached:
                break
            reached = item.goal_id == goal_id
        found.append(item)
    return found if reached else []


def _told(before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return difference(before, after)
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and 0 < len(before) <= len(after):
        changed = {
            str(at): _told(old, new) for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new
        }
        if 2 * len(changed) <= len(before):
            return changed | {str(at): [after[at]] for at in range(len(before), len(after))}
    return [after]


def _applied(state: State, told: State, depth: int) -> State:
    new = dict(state)
    for key, each in told.items():
        if each is None:
            new.pop(key, None)
        else:
            new[key] = _changed(state.get(key), each, depth + 1)
    return new


def _changed(old: Any, told: Any, depth: int) -> Any:
    if isinstance(told, list):
        return told[0] if told else None
    if not isinstance(told, dict) or depth > _DEEPEST:
        return old
    if isinstance(old, (list, tuple)):
        items = list(old)
        for number, each in told.items():
            at = int(number) if number.isdecimal() and len(number) < 7 else -1
            if 0 <= at < len(items):
                items[at] = _changed(items[at], each, depth + 1)
            elif at == len(items):
                items.append(_changed(None, each, depth + 1))
        return tuple(items) if isinstance(old, tuple) else items
    return _applied(old if isinstance(old, dict) else {}, told, depth)


def _with_values(state: State, changes: State) -> State:
    known = {key: value for key, value in state.items() if key not in changes}
    return known | {key: value for key, value in changes.items() if value is not None}
