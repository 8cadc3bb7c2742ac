"""Fold the records of a log to what a person reads, one goal at a time and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agent.audit.story.goal import GoalFold
from agent.audit.story.marks import bad_line, mark_of, stray
from agent.audit.story.model import (
    Item,
    SessionBegan,
    SessionEnded,
)
from agent.protocol.events import (
    OF_COMMAND,
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    Record,
    SessionFinished,
    SessionStarted,
    ToolStarted,
    UndoFinished,
)
from agent.recording.reader import BadLine


def stories(records: Iterable[Record | BadLine], *, undone: Mapping[str, str] | None = None) -> Iterator[Item]:
    """What `records` tell, in order. A goal comes when it is over; one without an end, as a crash leaves it, is "interrupted".

    `undone`: the state of runs that were taken back, by undo id, for what the records themselves tell only later.
    """
    fold = _Fold(dict(undone or {}))
    for record in records:
        yield from fold.take(record) if isinstance(record, Record) else fold.bad(record)
    yield from fold.close()


class _Fold:
    """The whole log: which goal is open, and what is known of undone runs."""

    def __init__(self, undone: dict[str, str]) -> None:
        self._undone = undone
        self._goal: GoalFold | None = None
        self._time = ""

    def take(self, record: Record) -> Iterator[Item]:
        self._time, event, goal = record.time, record.event, self._goal
        if isinstance(event, UndoFinished):
            self._undone[event.undo_id] = event.state
        if isinstance(event, GoalStarted):
            yield from self.close()
            self._goal = GoalFold(record, event, self._undone)
        elif isinstance(event, (SessionStarted, SessionFinished)):
            yield from self.close()
            yield _session(record, event)
        elif goal is None or (record.goal_id and record.goal_id != goal.goal_id):
            yield from _between(record)
        elif isinstance(event, GoalFinished):
            self._goal = None
            yield goal.story(event, record.time)
        else:
            goal.take(record)
            if goal.is_full:
                yield goal.next_part()

    def bad(self, line: BadLine) -> Iterator[Item]:
        mark = bad_line(line, self._time)
        if self._goal is None:
            yield mark
        else:
            self._goal.add(mark)

    def close(self) -> Iterator[Item]:
        """The goal that is still open has lost its ending."""
        if self._goal is not None:
            yield self._goal.story(None)
        self._goal = None


def _between(record: Record) -> Iterator[Item]:
    mark = mark_of(record)
    if mark is not None:
        yield mark
    elif record.goal_id and isinstance(record.event, (*OF_COMMAND, GoalFinished, ToolStarted, PlannerFinished)):
        yield stray(record)


def _session(record: Record, event: SessionStarted | SessionFinished) -> Item:
    if isinstance(event, SessionFinished):
        return SessionEnded(time=record.time, reason=event.reason, goals=event.goals)
    return SessionBegan(
        time=record.time,
        session_id=event.session_id or record.session,
        program=event.program,
        frontend=event.frontend,
        cwd=event.cwd,
        pid=event.pid,
        is_root=event.is_root,
        safety_off=event.safety_off,
        resumed=event.resumed,
        origin=event.origin,
    )
