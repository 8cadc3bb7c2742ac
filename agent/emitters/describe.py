"""Describe events in lines for people: pure functions, everything from outside made safe."""

from __future__ import annotations

import re
from collections.abc import Collection

from agent.emitters.paint import LEVEL_STYLE, MARKS, STATUS_STYLE, paint, prose, safe_line
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import (
    CommandFinished,
    JobFinished,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
)
from agent.protocol.events.goal import ContinueTriggered, GoalFinished, ToolFinished
from agent.protocol.outcomes import ExecutionResult, Usage
from agent.protocol.rehearsals import Rehearsal, Totals
from agent.text.shown import exit_words, shown, signal_name
from agent.text.sizes import counted, seconds

_SHOWN_COMMAND_CHARS = 4_000
_WORTH_TELLING = 1.0  # seconds
_SHOWN_RESULT_CHARS = 200
_SHOWN_CHANGES = 40


def error_lines(error: ErrorInfo, *, color: bool, at_prompt: bool) -> str:
    """Say what happened, and what to do next. Only at a shell, whose lines come from many programs, is ours named."""
    begins, typed = ("error", str) if at_prompt else ("agent-shell", at_shell)
    text = paint(f"{begins}: {typed(prose(error.message))}", "red", color=color)
    if error.hint:
        text += "\n" + paint(f"  {typed(prose(error.hint))}", "dim", color=color)
    return text


def at_shell(text: str) -> str:
    """Name sub-commands for the commands of the prompt that read the same words."""
    return re.sub(r"`:(policy|vault)\b", r"`agent-shell \1", text)


def command_line(command: str, report: RiskReport | None, *, color: bool, suffix: str = "") -> str:
    """`$ command  [level: reason]`, with the lines of a long command indented."""
    words = shown(command[:_SHOWN_COMMAND_CHARS]).replace("\n", "\n  ")
    if len(command) > _SHOWN_COMMAND_CHARS:
        words += f"\n  … {len(command) - _SHOWN_COMMAND_CHARS:,} more characters"
    text = f"$ {paint(words, 'bold', color=color)}"
    if report is not None:
        level = report.level.value
        reason = f": {safe_line(report.findings[0].reason, 200)}" if report.findings and level != "low" else ""
        text += "  " + paint(f"[{level}{reason}]", LEVEL_STYLE[level], color=color)
    return f"{text}  {safe_line(suffix, 60)}" if suffix else text


def ending_line(event: CommandFinished, *, color: bool) -> str | None:
    """Say how a command ended, None where there is nothing to say."""
    result = event.result
    after = f" after {seconds(result.duration)}"
    if result.timed_out:
        text = f"timed out{after}"
    elif result.interrupted:
        text = f"interrupted{after}"
    elif result.signal is None and event.exit_code == 0:
        return None
    else:
        text = exit_words(event.exit_code) if result.signal is None else f"killed by {signal_name(result.signal)}"
        text += after if result.duration >= _WORTH_TELLING else ""
    return paint(text, "yellow", color=color)


def ended_as(result: ExecutionResult) -> str:
    """The status of a goal that ends because a command did not end well."""
    return "budget_exhausted" if result.timed_out else "interrupted" if result.interrupted else "failed"


def job_ending(event: JobFinished, *, color: bool) -> str:
    """`job 1 ended with exit 2: make -j8`."""
    word = {"left": "keeps running", "lost": "is no longer watched"}.get(event.outcome, safe_line(event.outcome, 60))
    code = "" if event.exit_code is None or event.outcome != "ended" else f" with {exit_words(event.exit_code)}"
    note = f" ({safe_line(event.note, 200)})" if event.note else ""
    text = f"job {event.job_id} {word}{code}: {safe_line(event.command, 100)}{note}"
    return paint(text, "yellow" if code not in ("", " with exit 0") or event.outcome == "lost" else "dim", color=color)


def summary_line(
    event: GoalFinished,
    *,
    color: bool,
    said: Collection[str] = (),
    planning: float = 0.0,
    done: str = "",
    undo: str = "",
    shell: bool = False,
    told: bool = False,
) -> str:
    """One line on how the goal went, "" where there is nothing to say. `said`: messages that the person has seen already.

    `done`: what the planner says of how it ended, instead of the status. `undo`: how to take it back. `planning`: seconds that the
    planner took. `shell`: a shell gets the exit code. `told`: the status shows from what stands above, and so does
    the time of a command that did not go well.
    The time is that of the commands, or the planner's where none ran: what the person spent on reading is not ours to count.
    """
    style = STATUS_STYLE.get(event.status, "red")
    words = safe_line(event.status.replace("_", " "), 60)
    good = event.status in ("completed", "answered", "handed_off", "not_understood")
    why = event.message if not good and event.message not in (*said, event.status) and not done else ""
    ran = sum(command.get("outcome", "ran") == "ran" for command in event.commands)
    if why and not ran and event.status == "skipped":
        code = f" (exit {event.exit_code})" if shell else ""
        line = paint(f"{MARKS[style]} not run{code}: ", style, color=color)
        return line + paint(safe_line(why.removeprefix("not run: "), 300), "dim", color=color)
    parts = []
    if ran != len(event.commands) and len(event.commands) > 1:
        parts.append(f"{ran} of {counted(len(event.commands), 'command')} run")
    elif ran > 1:
        parts.append(counted(ran, "command"))
    if shell and not told and event.exit_code not in (0, 1):  # 1 is every failure's
        parts.append(f"exit {event.exit_code}")
    took = _took(event, ran, planning)
    if took >= _WORTH_TELLING and not (told and ran < 2 and event.status != "completed"):
        parts.append(seconds(took))
    parts += _cost(event.usage)
    if told and not (parts or done or why):
        return paint(undo, "dim", color=color) if undo else ""
    head = f"{'?' if event.status == 'not_understood' else MARKS[style]} {safe_line(done) or words}"
    line = paint(" · ".join([head, *parts, *filter(None, (undo,))]), "dim" if style == "green" else style, color=color)
    return line + paint(f" — {safe_line(why, 300)}", "dim", color=color) if why else line


def tool_result(event: ToolFinished, *, color: bool) -> str:
    """A dim line with the beginning of a tool's result."""
    first = safe_line(event.result, _SHOWN_RESULT_CHARS) or "no output"
    return paint(f"  {'failed: ' if event.is_error else ''}{first}", "dim", color=color)


def continuing(event: ContinueTriggered, *, color: bool) -> str:
    todos = "1 todo" if event.remaining_todos == 1 else f"{event.remaining_todos} todos"
    return paint(f"⟳ Continuing ({event.count}/{event.max}, {todos} remaining)", "yellow", color=color)


def todo_lines(text: str, *, color: bool) -> str:
    """An agent's list, what is done dimmed."""
    lines = (safe_line(line, 300) for line in text.splitlines())
    return "\n".join(paint(line, "dim", color=color) if line.startswith("[x]") else line for line in lines)


def rehearsing(event: RehearsalStarted) -> str:
    """Announce the output of a rehearsal."""
    return f"rehearsing, network {'on' if event.network else 'off'}; changes nothing"


def rehearsed(event: RehearsalFinished, folder: str, told: set[str], *, color: bool) -> str:
    """List what a rehearsal would change, for those whom nobody asks about it. What `told` holds is not said again."""
    from agent.emitters.rehearsal_text import of_any, plain, rehearsal_lines

    seen = Rehearsal(
        rehearsal_id="",
        command="",
        cwd=folder,
        result=ExecutionResult(exit_code=event.exit_code or 0),
        changes=event.changes,
        totals=event.totals,
        not_shown=event.not_shown,
        obstacle=event.reason,
        more=event.more,
        shell=event.shell,
    )
    lines = rehearsal_lines(seen, known=told, limit=_SHOWN_CHANGES)
    told.update(of_any(seen))
    return plain(lines, color=color)


def made(totals: Totals) -> str:
    """Count what was changed."""
    from agent.emitters.rehearsal_text import totals_words

    return totals_words(totals)


def undo_hint(undo_id: str, *, way: str = "agent-shell undo", made_real: bool = False) -> str:
    """Say how to take a run back. `way`: what is typed for it.

    `made_real`: it was a rehearsal until now, of which it was said that nothing was changed.
    """
    return f"{'applied · ' if made_real else ''}undo: {way} {safe_line(undo_id, 80)}"


def undone(event: UndoFinished, *, way: str = "agent-shell undo", color: bool) -> str:
    """Tell what an undo did, and what it left as it is."""
    if event.resumed:
        return paint(f"{safe_line(event.undo_id, 80)}: {safe_line(event.resumed, 400)}", "yellow", color=color)
    if event.reason:
        verb = "done again" if event.state == "undone" else "taken back"
        again = f"`{way} {safe_line(event.undo_id, 80)}` asks again"
        return paint(f"{safe_line(event.reason, 200)}, and nothing was {verb}; {again}", "yellow", color=color)
    what = "done again" if event.state == "committed" else "taken back"
    told = f"{what}: {counted(event.restored, 'change')}" if event.restored else f"nothing was {what}"
    lines = [paint(told, "green" if event.restored else "yellow", color=color)]
    if event.state == "undone" and event.restored:
        lines[0] += paint(f"; `{way} {safe_line(event.undo_id, 80)}` does it again", "dim", color=color)
    for conflict in event.skipped:
        text = f"  left as it is: {safe_line(conflict.path, 400)}: {safe_line(conflict.reason, 200)}"
        lines.append(paint(text, "yellow", color=color))
    return "\n".join(lines)


def _took(event: GoalFinished, ran: int, planning: float) -> float:
    """Seconds of work."""
    return sum(float(command.get("duration", 0.0)) for command in event.commands) if ran else planning


def _cost(usage: Usage) -> list[str]:
    parts = []
    tokens = usage.input_tokens + usage.output_tokens
    if tokens:
        parts.append(f"{'~' if usage.estimated else ''}{tokens:,} tokens")
    if usage.cost is not None:
        parts.append(f"${usage.cost:.4f}")
    return parts
