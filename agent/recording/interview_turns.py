"""Gather the turns of a session's interview from its log: the state after each, what was understood in it, and what was handed over.

A session may hold several legs, one for each engine that took its turn. What was gone back behind counts no more.
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
from agent.protocol.records import Record
from agent.recording.branching import first_line, lineage_beside, profile_in, records
from agent.recording.chained_lines import line_hash
from agent.recording.interview_fold import folded
from agent.recording.past import lineage_of
from agent.recording.reader import SessionFile, session_at


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
