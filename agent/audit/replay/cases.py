"""Take a log apart into what can be fed to the engine again: one case a goal, with what kept others from being one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from agent.protocol.events.command import RehearsalFinished
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlannerFinished, RunFinished, RunStarted
from agent.protocol.events.known import FORMAT_VERSION, Event, UnknownEvent
from agent.protocol.events.session import (
    Failed,
    LogScrubbed,
    SessionChanged,
    SessionFinished,
    SessionPruned,
    SessionStarted,
)
from agent.protocol.records import Record
from agent.recording.endings import CRASHED
from agent.recording.reader import BadLine

_MOST_RECORDS = 20_000
"""Records of one goal that are held at once. A goal of more is not checked: no engine makes one, since outputs are gathered."""


class Case(Struct, frozen=True, kw_only=True):
    """One run with a goal, as it was recorded, from `run.started` to `run.finished`.

    `number`: which goal of the session, from 1. `before`: the goal before it, in words. `obstacle`: why it cannot be fed, "" if it can.
    """

    number: int
    session: SessionStarted
    records: tuple[Record, ...]
    before: str = ""
    obstacle: str = ""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events without their envelopes."""
        return tuple(record.event for record in self.records)

    @property
    def goal(self) -> GoalStarted | None:
        """Its beginning, None where the log lacks it."""
        return next((event for event in self.events if isinstance(event, GoalStarted)), None)


class LogRemark(Struct, frozen=True, kw_only=True):
    """Something about the log as a whole that whoever reads the result has to know."""

    text: str


def cases(lines: Iterable[Record | BadLine]) -> Iterator[Case | LogRemark]:
    """The goals of a log in order, one at a time in memory. Lines that cannot be read, and newer versions, are said."""
    taker = _Taker()
    for line in lines:
        yield from taker.take(line)
    yield from taker.end()


class _Taker:
    def __init__(self) -> None:
        self._session = SessionStarted(session_id="")
        self._number = 0
        self._before = ""
        self._open: dict[str, list[Record]] = {}
        self._bad = 0
        self._newer = 0

    def take(self, line: Record | BadLine) -> Iterator[Case | LogRemark]:
        if isinstance(line, BadLine):
            self._bad += 1
            return
        if line.v > FORMAT_VERSION:
            self._newer = max(self._newer, line.v)
        match line.event:
            case SessionStarted():
                yield from self._all_open("the process ended before it")
                self._session = line.event
            case SessionFinished():
                yield from self._all_open("the session ended before it")
            case LogScrubbed():
                yield LogRemark(
                    text="secrets were taken out of this log later, so what it rated then may be another text"
                )
            case SessionPruned():
                yield LogRemark(text="the records of this session were removed; only its tombstone is left")
            case RunStarted():
                self._open[line.run] = [line]
            case RunFinished() if line.run in self._open:
                yield from self._closed([*self._open.pop(line.run), line], "")
            case _ if line.run and line.run in self._open:
                held = self._open[line.run]
                if len(held) <= _MOST_RECORDS:
                    held.append(line)

    def end(self) -> Iterator[Case | LogRemark]:
        yield from self._all_open("the log ends before it")
        if self._bad:
            yield LogRemark(text="1 line cannot be read" if self._bad == 1 else f"{self._bad:,} lines cannot be read")
        if self._newer:
            yield LogRemark(text=f"written by a newer version (format {self._newer}, this one reads {FORMAT_VERSION})")

    def _all_open(self, why: str) -> Iterator[Case]:
        for run in tuple(self._open):
            yield from self._closed(self._open.pop(run), why)

    def _closed(self, records: list[Record], obstacle: str) -> Iterator[Case]:
        case = Case(number=self._number + 1, session=self._session, records=tuple(records), before=self._before)
        if case.goal is None:
            return  # only a core command
        self._number += 1
        self._before = case.goal.goal
        yield structs.replace(case, obstacle=obstacle or _obstacle(case))


def _obstacle(case: Case) -> str:
    events = case.events
    if any(record.v > FORMAT_VERSION for record in case.records):
        return "it was recorded by a newer version"
    if len(events) > _MOST_RECORDS:
        return f"it has more than {_MOST_RECORDS:,} events"
    if case.session.profile == "work":
        return "it worked on a repository, which is not what it was then"
    if case.session.profile == "interview":
        return "it was a turn of an interview, which the log alone gives back"
    unknown = sorted({event.type[:60] for event in events if isinstance(event, UnknownEvent)})
    if unknown:
        return f"it has events that this version does not know: {', '.join(unknown[:5])}"
    if sum(isinstance(event, GoalStarted) for event in events) > 1:
        return "it has several goals: a macro, or an agent that went on by itself"
    if any(isinstance(event, SessionChanged) and event.by == "agent" for event in events):
        return "an agent wrote its todo list in it, and a replay has no agent"
    ended = [place for place, event in enumerate(events) if isinstance(event, GoalFinished)]
    if not ended:
        return "it was cut off by a crash"
    last = events[-1]
    unsaid = isinstance(last, RunFinished) and last.outcome.goal is None
    if any(_is_cut(event) for event in events) or (unsaid and not any(isinstance(event, Failed) for event in events)):
        return "it was cut off by a crash"
    if any(isinstance(event, Failed) and event.error.code == "cancelled" for event in events[ended[-1] :]):
        return "the program that ran it was stopped from outside"
    if any(isinstance(event, PlannerFinished) and "characters not recorded …]" in event.raw for event in events):
        return "a reply of the planner was too long to be recorded in full"
    if any(isinstance(event, RehearsalFinished) and event.preview and event.more for event in events):
        return "a preview has more changes than were recorded"
    return ""


def _is_cut(event: Event) -> bool:
    """Tell whether the event is an ending that was written in place of a process that had gone."""
    match event:
        case GoalFinished(message=message, status="interrupted"):
            return message == CRASHED
        case PlannerFinished(error=error) if error is not None:
            return error.message == CRASHED
    return False
