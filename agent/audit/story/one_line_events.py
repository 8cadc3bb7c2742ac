"""Tell, in words, the events that take one line of a story. The text is data: nothing in it is escaped."""

from __future__ import annotations

from typing import Any, Literal

from agent.audit.story.model import Mark
from agent.audit.story.objects import as_json
from agent.protocol.events.command import JobFinished, JobStarted, UndoFinished
from agent.protocol.events.goal import (
    CompressionFinished,
    ContinueTriggered,
    CycleFinished,
    CyclePlanned,
    CycleStarted,
    PlanFinished,
    PlannerNoted,
    PlanProposed,
    PlanStepped,
)
from agent.protocol.events.known import Event, UnknownEvent
from agent.protocol.events.session import (
    CoreCommandFinished,
    Failed,
    LibraryChanged,
    LogContinued,
    LogRepaired,
    LogRotated,
    LogScrubbed,
    MemoryForgotten,
    Notice,
    RuleAdded,
    RuleRemoved,
    SessionChanged,
    SessionNamed,
    SessionPruned,
    Warned,
)
from agent.protocol.records import Record, event_type
from agent.recording.reader import BadLine
from agent.text.sizes import counted

Weight = Literal["info", "warning", "error"]

_MOST_UNKNOWN = 2_000  # characters of an event that this version does not know


def mark_of(record: Record) -> Mark | None:
    """The event as one line, None for what tells a person nothing."""
    told = _words(record.event)
    if told is None:
        return None
    text, weight, data = told
    return Mark(time=record.time, kind=event_type(record.event), text=text, weight=weight, data=data)


def bad_line(line: BadLine, time: str) -> Mark:
    """A line that is no record; `time` is that of the record before it."""
    what = "is torn, as a crash leaves it" if line.torn else "is no record"
    return Mark(
        time=time,
        kind="bad-line",
        text=f"line {line.number:,} {what}: {line.reason}",
        weight="warning",
        data={"line": line.number, "torn": line.torn},
    )


def stray(record: Record) -> Mark:
    """An event of a goal that is not open: a log that was put together, or one of a newer version."""
    kind = event_type(record.event)
    return Mark(
        time=record.time,
        kind=kind,
        text=f"{kind} of a goal that is not open ({record.goal_id[:80]})",
        weight="warning",
        data={"goal_id": record.goal_id},
    )


def _words(event: Event) -> tuple[str, Weight, dict[str, Any]] | None:
    match event:
        case Notice(text=text) | PlannerNoted(text=text):
            return text, "info", {}
        case Warned(text=text):
            return text, "warning", {}
        case Failed(error=error):
            hint = f" ({error.hint})" if error.hint else ""
            return f"{error.message}{hint}", "error", {"code": error.code}
        case PlanProposed() | PlanStepped() | PlanFinished():
            return _plan(event)
        case SessionChanged() | RuleAdded() | RuleRemoved() | MemoryForgotten() | UndoFinished():
            return _change(event)
        case JobStarted(job_id=number, command=command, how=how):
            word = "was sent to the background" if how == "sent" else "was left running"
            return f"job {number} {word}: {command}", "info", {"job_id": number, "pid": event.pid}
        case JobFinished():
            return _job(event)
        case CoreCommandFinished(command=command, text=text):
            return f"{command}: {text}" if text else command, "info", {"command": command}
        case ContinueTriggered(count=count, max=most, remaining_todos=left):
            return f"went on by itself ({count} of {most}, {left} to do)", "info", {}
        case CompressionFinished(tokens_saved=saved):
            return f"the history was shortened by {counted(saved, 'token')}", "info", {"tokens_saved": saved}
        case SessionNamed(name=name):
            return f"the session is called {name}", "info", {"name": name}
        case UnknownEvent(type=kind, data=data):
            shown = as_json(data).decode("utf-8", "replace")
            cut = shown if len(shown) <= _MOST_UNKNOWN else shown[:_MOST_UNKNOWN] + "…"
            return f"an event that this version does not know: {kind} {cut}", "info", {}
    return _of_cycle(event) or _of_log(event)


def _of_cycle(event: Event) -> tuple[str, Weight, dict[str, Any]] | None:
    match event:
        case CycleStarted(task=task, title=title, branch=branch) if task:
            words = f"task {task} on {branch}: {title}"
            return words, "info", {"task": task, "branch": branch, "worktree": event.worktree}
        case CyclePlanned(plan=plan) if plan:
            return f"the plan: {plan}", "info", {"calls": list(event.calls)}
        case CycleFinished(reason=reason, text=text):
            words = f"the cycle ended: {reason.replace('_', ' ')}" + (f": {text}" if text else "")
            return words, "info", {"reason": reason, "task": event.task, "url": event.url, "files": list(event.files)}
    return None


def _of_log(event: Event) -> tuple[str, Weight, dict[str, Any]] | None:
    match event:
        case LogRepaired(line=line, bytes=size, text=text):
            words = text or f"line {line:,} was cut short after {counted(size, 'byte')} and has been closed off"
            return words, "warning", {"line": line, "bytes": size}
        case LogRotated(next=name):
            return f"the log continues in {name}", "info", {}
        case LogContinued(segment=segment, previous=name):
            return f"file {segment} of the log, after {name}", "info", {}
        case LogScrubbed(secrets=secrets, lines=lines):
            found = ", ".join(f"{count} × {kind}" for kind, count in list(secrets.items())[:20])
            words = f"secrets were taken out of {counted(lines, 'line')} of this log afterwards: {found}"
            return words, "warning", {"secrets": secrets, "lines": lines}
        case LibraryChanged(kind=kind, name=name, how=how):
            return f"{kind} {name}: {how}", "info", {"kind": kind, "name": name, "how": how, "path": event.path}
        case SessionPruned(events=events, bytes=size, reason=reason):
            words = f"this session was removed: {counted(events, 'event')}, {counted(size, 'byte')}" + (
                f" ({reason})" if reason else ""
            )
            return words, "warning", {"events": events, "bytes": size, "goals": event.goals}
    return None


def _change(
    event: SessionChanged | RuleAdded | RuleRemoved | MemoryForgotten | UndoFinished,
) -> tuple[str, Weight, dict[str, Any]]:
    match event:
        case UndoFinished():
            return _undo(event)
        case SessionChanged(key="todo", to=to, by=by):
            return (
                f"the todo list: {'; '.join(to.splitlines()) or 'empty'}",
                "info",
                {"key": "todo", "to": to, "by": by},
            )
        case SessionChanged(key=key, before=before, to=to, by=by):
            words = f"{key} is {to or 'none'} now" + (f", it was {before}" if before else "")
            words += "" if by == "person" else f" ({by})"
            weight: Weight = "warning" if (key, to) == ("safety", "off") else "info"
            return words, weight, {"key": key, "from": before, "to": to, "by": by}
        case RuleAdded(rules=rules, where=where, text=text):
            return f"policy rule {', '.join(rules)} for {where}: {text}", "info", {"rules": list(rules), "where": where}
        case RuleRemoved(rules=rules, where=where, reason=reason):
            words = f"policy rule {', '.join(rules)} of {where} no longer applies" + (f": {reason}" if reason else "")
            return words, "info", {"rules": list(rules), "where": where}
    many = "all remembered commands" if event.commands is None else counted(event.commands, "remembered command")
    return f"forgotten: {many}" + (f" since {event.since}" if event.since else ""), "info", {}


def _undo(event: UndoFinished) -> tuple[str, Weight, dict[str, Any]]:
    if event.reason:
        verb = "done again" if event.state == "undone" else "taken back"
        return f"the run {event.undo_id} was not {verb}: {event.reason}", "warning", {"undo_id": event.undo_id}
    if event.resumed:
        words = f"the run {event.undo_id} had been left open by a crash: {event.resumed}"
        return words, "warning", {"undo_id": event.undo_id, "state": event.state, "restored": event.restored}
    what = "was done again" if event.state == "committed" else "was taken back"
    words = f"the run {event.undo_id} {what}: {counted(event.restored, 'change')}"
    if event.skipped:
        words += f"; {counted(len(event.skipped), 'path')} left as found"
    return words, "info", {"undo_id": event.undo_id, "state": event.state, "restored": event.restored}


def _plan(event: PlanProposed | PlanStepped | PlanFinished) -> tuple[str, Weight, dict[str, Any]] | None:
    match event:
        case PlanProposed(planned=planned, done=done):
            steps = "; ".join(f"{number}. {step.goal}" for number, step in enumerate(planned, 1))
            went_on = f", resumed at step {done + 1}" if done else ""
            commands = [step.command for step in planned]
            goals = [step.goal for step in planned]
            return (
                f"a plan of {counted(len(planned), 'step')}{went_on}: {steps}",
                "info",
                {"plan": event.plan, "goals": goals, "commands": commands, "done": done},
            )
        case PlanStepped(step=step, total=total, goal=goal, state=state):
            data = {"plan": event.plan, "step": step, "state": state}
            if state == "begun":
                return f"step {step} of {total}: {goal}", "info", data
            return (f"step {step} of {total} failed", "warning", data) if state == "failed" else None
        case PlanFinished(outcome="stopped", done=done, total=total, left=left):
            words = f"the plan stopped with {done} of {counted(total, 'step')} done; left: {'; '.join(left)}"
            return words, "warning", {"plan": event.plan, "done": done, "left": list(left)}
    word = {"replaced": "was changed", "dry-run": "was only looked at"}.get(event.outcome, "is done")
    return f"the plan {word}: {counted(event.done, 'step')}", "info", {"plan": event.plan, "done": event.done}


def _job(event: JobFinished) -> tuple[str, Weight, dict[str, Any]]:
    word = {"left": "outlives the session", "lost": "is no longer watched"}.get(event.outcome, event.outcome)
    code = "" if event.exit_code is None else f" with exit {event.exit_code}"
    words = f"job {event.job_id} {word}{code}: {event.command}" + (f" ({event.note})" if event.note else "")
    return words, "info", {"job_id": event.job_id, "outcome": event.outcome, "exit_code": event.exit_code}
