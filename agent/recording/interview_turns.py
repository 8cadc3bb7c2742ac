"""Read the interview of a session from its log: the state after each turn, what was understood in it, and what was handed over.

A session may hold several legs, one for each engine that took its turn. What was gone back behind counts no more.

States are plain data. The log tells the difference of two: the keys in which two objects differ, with a value that is new as the only item
of a list, None for what is gone, and where object or list stay and something within changed, the difference of those. Items of a list are
named by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.events.interview import (
    FieldExtracted,
    HandedOver,
    InterviewStarted,
    InterviewTurned,
    InterviewWentBack,
)
from agent.protocol.messages import GoalItem, HistoryItem
from agent.protocol.records import Record
from agent.recording.branching import first_line, lineage_beside, lineage_of, profile_in, records
from agent.recording.chained_lines import line_hash
from agent.recording.reader import SessionFile, session_at

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


class KeptTurn(Struct, frozen=True, kw_only=True):
    """One turn; number 0 is the beginning, which was later where it was taken up from a database. `goal`: the id of the message, "" at the
    beginning.
    """

    turn: int
    goal: str
    state: dict[str, Any]
    extractions: tuple[FieldExtracted, ...] = ()


class Leg(Struct, frozen=True, kw_only=True):
    """The turns of one engine, the beginning first. `handed`: what it handed over."""

    engine: str
    turns: tuple[KeptTurn, ...]
    handed: tuple[dict[str, Any], ...] = ()

    @property
    def last(self) -> KeptTurn:
        return self.turns[-1]


def interview_of(path: str) -> tuple[Leg, ...]:
    """Return the legs of the session whose log begins at `path`, with those that it was branched from. Raises IoError."""
    return legs(records(lineage_of(path)))


def log_hash(path: str) -> str:
    """Return the hash of the first line of the log that begins at `path`: no other log has it. Raises IoError."""
    return line_hash(first_line(session_at(path)))


def is_interview_log(path: str) -> bool:
    """Tell whether the goals of the log that begins at `path` are the messages of an interview. Raises IoError."""
    return profile_in(session_at(path)) == "interview"


def with_branches(changed: Iterable[SessionFile], known: Sequence[SessionFile]) -> list[str]:
    """Return the paths of the interviews among `known` that are made of the records of a changed log. Raises IoError."""
    paths = {each.path for each in changed}
    return [
        each.path
        for each in known
        if is_interview_log(each.path) and any(part.session.path in paths for part in lineage_beside(each, known).parts)
    ]


def with_last(found: tuple[Leg, ...], turn: KeptTurn) -> tuple[Leg, ...]:
    """Return the legs with the last turn as it is known better."""
    if not found or found[-1].last.turn != turn.turn:
        return found
    return (*found[:-1], replace(found[-1], turns=(*found[-1].turns[:-1], turn)))


def legs(found: Iterable[Record]) -> tuple[Leg, ...]:
    fold = _Fold()
    for record in found:
        fold.take(record)
    return tuple(Leg(engine=engine, turns=tuple(turns), handed=tuple(handed)) for engine, turns, handed in fold.legs)


class _Fold:
    def __init__(self) -> None:
        self.legs: list[tuple[str, list[KeptTurn], list[dict[str, Any]]]] = []
        self._goal = ""
        self._understood: list[FieldExtracted] = []

    def take(self, record: Record) -> None:
        if record.goal_id != self._goal:
            self._goal, self._understood = record.goal_id, []
        event = record.event
        if isinstance(event, InterviewStarted):
            begun = event.state.get("turnNumber", 0)
            number = begun if isinstance(begun, int) else 0
            self.legs.append((event.engine, [KeptTurn(turn=number, goal="", state=event.state)], []))
        elif isinstance(event, FieldExtracted):
            self._understood.append(event)
        elif self.legs and isinstance(event, InterviewTurned | InterviewWentBack | HandedOver):
            self._in_leg(event)

    def _in_leg(self, event: InterviewTurned | InterviewWentBack | HandedOver) -> None:
        engine, turns, handed = self.legs[-1]
        if isinstance(event, HandedOver):
            if event.source == engine:
                handed.append(event.handoff)
        elif isinstance(event, InterviewWentBack):
            turns[:] = [each for each in turns if each.turn <= event.turn]
        else:
            state = folded(turns[-1].state, event)
            if event.turn == turns[-1].turn:  # ended by a handover, which is no turn of its own
                turns[-1] = replace(turns[-1], state=state)
                return
            understood = tuple(each for each in self._understood if each.turn == event.turn)
            turns.append(KeptTurn(turn=event.turn, goal=self._goal, state=state, extractions=understood))
            self._understood = []
