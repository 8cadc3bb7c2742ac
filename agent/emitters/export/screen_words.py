"""Texts of a drawn session that no emitter prints: where it begins, and what was done to its log."""

from __future__ import annotations

from agent.emitters.paint import safe, safe_line
from agent.emitters.story.words import wrapped
from agent.protocol.events import LogRepaired, LogScrubbed, SessionPruned, SessionStarted


def session_lines(event: SessionStarted, time: str, columns: int) -> list[str]:
    """The first lines of a session that began at `time` (as in its record), for a screen of so many columns."""
    words = "goes on" if event.resumed else f"session {safe_line(event.session_id, 80)}"
    when = safe_line(time[:19]).replace("T", " ")
    parts = ["agent-shell", words, f"{when} UTC", safe(event.cwd[:200]).replace("\n", " ")]
    if event.origin is not None:
        parts.append(f"{safe_line(event.origin.how, 20)} of {safe_line(event.origin.session, 80)}")
    return list(wrapped(" · ".join(part for part in parts if part), columns))


def log_line(event: LogRepaired | LogScrubbed | SessionPruned) -> str:
    """What happened to the log afterwards."""
    match event:
        case LogRepaired():
            said = "a crash tore a line of the log here"
        case LogScrubbed():
            said = "secrets were taken out of this log afterwards"
        case SessionPruned():
            said = "this session was pruned; nothing else is left of it"
    return f"[{said}]"
