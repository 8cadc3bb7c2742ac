"""Describe a rehearsal in a few lines of words: for the planner, and for those who read a log."""

from __future__ import annotations

from agent.protocol.events.command import RehearsalFinished
from agent.protocol.rehearsals import Change

_SHOWN = 40
_VERBS = {
    "create": "create", "modify": "modify", "delete": "delete", "meta": "change mode, owner or time of",
    "rename": "rename", "type": "replace with another kind of file",
}  # fmt: skip


def rehearsal_words(event: RehearsalFinished) -> str:
    """Its exit code, what it would change, what it could not show. Not escaped: the text is data wherever it goes."""
    if event.outcome in ("unavailable", "failed") and not event.changes:
        return f"it could not be rehearsed: {event.reason}"
    lines = [f"exit code {event.exit_code} in the rehearsal"] if event.exit_code is not None else []
    if event.reason:
        lines.append(event.reason)
    lines += [f"would {_words(change)}" for change in event.changes[:_SHOWN]]
    left = len(event.changes) - _SHOWN + event.more if len(event.changes) > _SHOWN else event.more
    if left:
        lines.append(f"and {left:,} more changes")
    if not event.changes:
        lines.append("would change nothing")
    if event.shell and not event.reason:
        lines.append(f"would leave in the shell: {'; '.join(event.shell)}")
    lines += [f"not shown: {text}" for text in event.not_shown]
    return "\n".join(lines)


def _words(change: Change) -> str:
    if change.op == "rename":
        return f"rename {change.source} to {change.path}"
    count = change.before.entries if change.before is not None and change.op == "delete" else 0
    return f"{_VERBS[change.op]} {change.path}" + (f" and the {count:,} entries below it" if count else "")
