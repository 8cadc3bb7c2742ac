"""Fold the records of a log to what a person reads, one goal at a time, in parts where it is long, and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs

from agent.audit.story.command import CommandFold, command_fold
from agent.audit.story.model import (
    GoalStory,
    Item,
    Mark,
    PlannerStep,
    Said,
    SessionBegan,
    SessionEnded,
    Step,
    ToolStory,
)
from agent.audit.story.objects import as_json
from agent.audit.story.one_line_events import bad_line, mark_of, stray
from agent.protocol.events.command import OF_COMMAND, CommandProposed, UndoFinished, UndoStarted
from agent.protocol.events.goal import (
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    PlannerStarted,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage, SessionFinished, SessionStarted
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, GoalStatus, Usage, add_usage
from agent.protocol.records import Record
from agent.recording.reader import BadLine


def stories(records: Iterable[Record | BadLine], *, undone: Mapping[str, str] | None = None) -> Iterator[Item]:
    """Tell what `records` say, in order. A goal comes when it is over; one without an end, as a crash leaves it, is "interrupted".

    `undone`: the state of runs that were taken back, by undo id, for what the records themselves tell only later.
    """
    fold = _Fold(dict(undone or {}))
    for record in records:
        yield from fold.take(record) if isinstance(record, Record) else fold.bad(record)
    yield from fold.close()
    yield from fold.open_undos()


class _Fold:
    """The whole log: which goal is open, and what is known of undone runs."""

    def __init__(self, undone: dict[str, str]) -> None:
        self._undone = undone
        self._goal: GoalFold | None = None
        self._time = ""
        self._turning: dict[str, Record] = {}  # an undo that began and has no end yet

    def take(self, record: Record) -> Iterator[Item]:
        self._time, event, goal = record.time, record.event, self._goal
        if isinstance(event, UndoFinished):
            self._undone[event.undo_id] = event.state
            self._turning.pop(event.undo_id, None)
        elif isinstance(event, UndoStarted):
            self._turning[event.undo_id] = record
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

    def open_undos(self) -> Iterator[Mark]:
        """An undo that a crash cut off. Whoever uses undo next brings it to an end, in another session's log perhaps."""
        for undo_id, record in self._turning.items():
            now = self._undone.get(undo_id)
            words = f"finished later: the run is {now}" if now else "it is brought to an end when undo is used next"
            text = f"an undo of the run {undo_id} began, and has no end in this log; {words}"
            yield Mark(time=record.time, kind="undo.started", text=text, weight="warning", data={"undo_id": undo_id})


def _between(record: Record) -> Iterator[Item]:
    mark = mark_of(record)
    if mark is not None:
        yield mark
    elif record.goal_id and isinstance(record.event, (*OF_COMMAND, GoalFinished, ToolStarted, PlannerFinished)):
        yield stray(record)


def _session(record: Record, event: SessionStarted | SessionFinished) -> Item:
    if isinstance(event, SessionFinished):
        return SessionEnded(time=record.time, reason=event.reason, goals=event.goals)
    began = structs.asdict(event) | {"session_id": event.session_id or record.session}
    return SessionBegan(time=record.time, **began)


MOST_STEPS = 1_000
"""Steps of one part of a goal's story."""

MOST_TEXT = 4 * 1024 * 1024
"""Characters, about, of one part of a goal's story."""


_OF_GOAL = ("goal", "origin", "private", "planner", "model", "approve", "safety_off", "cwd")


class GoalFold:
    """The goal that is open while its events are read."""

    def __init__(self, record: Record, event: GoalStarted, undone: Mapping[str, str]) -> None:
        self.goal_id = record.goal_id
        self._undone = undone
        self._ended = record.time
        self._usage = Usage()
        self._calls = 0
        self._part = 1
        self._steps: list[Step | CommandFold] = []
        self._weight = 0
        self._open: dict[str, CommandFold] = {}
        self._call_id = ""
        self._head = GoalStory(
            goal_id=record.goal_id,
            began=record.time,
            ended=record.time,
            status=GoalStatus.INTERRUPTED.value,
            exit_code=EXIT_CODE_OF_STATUS[GoalStatus.INTERRUPTED],
            **{name: getattr(event, name) for name in _OF_GOAL},
            files=(*(given.path for given in event.files), *(given.path for given in event.media)),
            context=tuple(block.label for block in event.context),
            finished=False,
        )

    @property
    def is_full(self) -> bool:
        """Tell whether this part has become so long that it must be told now."""
        return len(self._steps) >= MOST_STEPS or self._weight >= MOST_TEXT

    def add(self, step: Step | CommandFold, weight: int = 100) -> None:
        self._steps.append(step)
        self._weight += weight

    def take(self, record: Record) -> None:
        """The goal's next event."""
        time, event = record.time, record.event
        self._ended = time
        if isinstance(event, OF_COMMAND):
            self._command(event, time)
            return
        match event:
            case PlannerStarted():
                pass
            case PlannerFinished():
                self._planned(event, time)
            case AssistantMessage(text=text):
                self._said(text, time)
            case ToolStarted(call_id=call_id, name=name, args=args):
                self._call_id = call_id
                weight = len(as_json(args))
                self.add(ToolStory(time=time, call_id=call_id, name=name, args=args), weight)
            case ToolFinished():
                self._tool_finished(event, time)
            case _:
                mark = mark_of(record)
                if mark is not None:
                    self.add(mark, len(mark.text))

    def next_part(self) -> GoalStory:
        """All there is by now, as one part of more; commands that are not over go on in the next one."""
        waiting = [step for step in self._steps if isinstance(step, CommandFold) and step.command_id in self._open]
        if len(waiting) >= MOST_STEPS // 2 or sum(fold.weight for fold in waiting) >= MOST_TEXT // 2:
            waiting = []  # so many cannot be open at once: the log is not ours
            self._open.clear()
        told = [step for step in self._steps if step not in waiting]
        story = self._so_far(told, more=True)
        self._steps = list(waiting)
        self._weight = sum(fold.weight for fold in waiting)
        self._part += 1
        return story

    def story(self, event: GoalFinished | None, time: str = "") -> GoalStory:
        """The goal, or its last part; `event` is its ending, if there is one."""
        self._ended = time or self._ended
        head = self._so_far(self._steps, planner_calls=self._calls)
        if event is None:
            return head
        return structs.replace(
            head,
            goal=event.goal or head.goal,
            status=event.status,
            exit_code=event.exit_code,
            message=event.message,
            duration=event.duration,
            usage=event.usage if event.usage != Usage() else self._usage,
            planner=event.planner or head.planner,
            model=event.model or head.model,
            planner_calls=max(event.steps, self._calls),
            finished=True,
        )

    def _so_far(self, steps: list[Step | CommandFold], **more: Any) -> GoalStory:
        told = tuple(
            step.story(self._undone.get(step.undo_id, "") if step.undo_id else "")
            if isinstance(step, CommandFold)
            else step
            for step in steps
        )
        return structs.replace(self._head, ended=self._ended, steps=told, part=self._part, usage=self._usage, **more)

    def _command(self, event: Event, time: str) -> None:
        key: str = event.command_id  # type: ignore[union-attr]  # all of OF_COMMAND have one
        if isinstance(event, CommandProposed):
            # A tool that runs a command proposes it first on its own account; the command itself has the call's id.
            fold = command_fold(event, time, self._call_id)
            self._open[key] = fold
            self.add(fold, fold.weight)
            return
        known = self._open.get(key)
        if known is None:  # its proposal is missing: a log that was cut or put together
            known = command_fold(CommandProposed(command_id=key, command=getattr(event, "command", "")), time)
            self._open[key] = known
            self.add(known, known.weight)
        before = known.weight
        known.apply(event, time)
        self._weight += known.weight - before
        if known.settled:
            del self._open[key]

    def _planned(self, event: PlannerFinished, time: str) -> None:
        self._usage = add_usage(self._usage, event.usage)
        self._calls += 1
        self.add(PlannerStep(time=time, **structs.asdict(event)), len(event.raw))

    def _said(self, text: str, time: str) -> None:
        last = self._steps[-1] if self._steps else None
        self._weight += len(text)
        if isinstance(last, PlannerStep) and not last.text:
            self._steps[-1] = structs.replace(last, text=text)
        else:
            self.add(Said(time=time, text=text))

    def _tool_finished(self, event: ToolFinished, time: str) -> None:
        self._call_id = ""
        ended = ToolStory(time=time, finished=True, **structs.asdict(event))
        self._weight += len(event.result)
        for place in range(len(self._steps) - 1, -1, -1):
            begun = self._steps[place]
            if isinstance(begun, ToolStory) and begun.call_id == event.call_id and not begun.finished:
                self._steps[place] = structs.replace(ended, time=begun.time, args=begun.args)
                return
        self.add(ended)
