"""Find the endings that a crash left out of a log: every `X.started` gets its `X.finished`, and the goal its status."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import (
    CommandFinished,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
    UndoStarted,
)
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    CycleFinished,
    CycleStarted,
    GoalStarted,
    PlannerFinished,
    PlannerStarted,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    goal_finished,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionFinished
from agent.protocol.outcomes import ExecutionResult, ExitCode, RunOutcome
from agent.protocol.records import Record
from agent.recording.fold import goals

CUT = "the log could not be written"
CRASHED = "the program ended without warning"
"""The words of an ending that was written in place of a process which had gone."""


class Ending(Struct, frozen=True):
    """An event to append, with the ids of its envelope."""

    event: Event
    run: str
    goal_id: str


def missing_endings(records: Iterable[Record], reason: str = CRASHED) -> tuple[Ending, ...]:
    """Return what closes everything that is still open at the end of `records`, innermost first; `session.finished` not included."""
    opened: list[Record] = []
    since_goal: list[Record] = []
    for record in records:
        match record.event:
            case SessionFinished():
                opened.clear()
            case GoalStarted():
                since_goal = [record]
                opened.append(record)
            case (
                RunStarted()
                | PlannerStarted()
                | ToolStarted()
                | CommandStarted()
                | RehearsalStarted()
                | CompressionStarted()
                | UndoStarted()
                | CycleStarted()
            ):
                opened.append(record)
            case event:
                _close(opened, event)
        if since_goal and record is not since_goal[0]:
            since_goal.append(record)
    endings = ((_ending_of(record, since_goal, reason), record) for record in reversed(opened))
    return tuple(Ending(event, record.run, record.goal_id) for event, record in endings if event is not None)


def _close(opened: list[Record], event: Event) -> None:
    """Take the innermost record off that `event` is the ending of."""
    name = _kind(event)
    for place in range(len(opened) - 1, -1, -1):
        if _kind(opened[place].event) == name:
            del opened[place]
            return


def _kind(event: Event) -> str:
    return type(event).__name__.removesuffix("Started").removesuffix("Finished")


def _ending_of(record: Record, since_goal: list[Record], reason: str) -> Event | None:
    match record.event:
        case CommandStarted(command_id=command_id):
            gone = ExecutionResult(exit_code=ExitCode.CANCELLED, interrupted=True, notes=(reason,))
            return CommandFinished(command_id=command_id, exit_code=gone.exit_code, result=gone)
        case RehearsalStarted(command_id=command_id):
            return RehearsalFinished(command_id=command_id, outcome="interrupted", reason=reason)
        case ToolStarted(call_id=call_id, name=name):
            return ToolFinished(call_id=call_id, name=name, result=reason, is_error=True)
        case PlannerStarted(step=step):
            return PlannerFinished(step=step, reply="error", error=ErrorInfo(code="cancelled", message=reason))
        case UndoStarted(undo_id=undo_id, state=state):
            told = f"{reason}; it is brought to an end when undo is used next"
            return UndoFinished(undo_id=undo_id, restored=0, state=state, reason=told)
        case CompressionStarted():
            return CompressionFinished()
        case CycleStarted(task=task, worktree=worktree):
            return CycleFinished(reason="cancelled", task=task, text=reason, worktree=worktree)
        case GoalStarted():
            summaries = [summary for summary in goals(since_goal) if summary.goal_id == record.goal_id]
            if not summaries:
                return None
            return goal_finished(structs.replace(summaries[-1], message=summaries[-1].message or reason))
        case RunStarted(request_id=request_id, session_id=session_id):
            outcome = RunOutcome(request_id=request_id, session_id=session_id, exit_code=ExitCode.CANCELLED)
            return RunFinished(outcome=outcome)
    return None
