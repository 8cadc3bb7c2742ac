"""Make the frames of a session that a player shows, and what they are drawn with: the screen, and the times between them."""

from __future__ import annotations

import math
from collections.abc import Coroutine
from datetime import datetime
from typing import Any

from msgspec import Struct

from agent.emitters.paint import paint, safe_line, wrapped
from agent.emitters.streams import MemorySink
from agent.protocol.events.command import CommandFinished, CommandOutput, CommandStarted, RehearsalStarted
from agent.protocol.events.session import LogRepaired, LogScrubbed, SessionPruned, SessionStarted
from agent.protocol.records import Record
from agent.text.lazy_pattern import lazily
from agent.text.shown import shown

_SHOWN_CHARS = 4_000
_SHOWN_LINES = 40
_TRAILING_CONTROLS = lazily(r"(?:\x1b\[[0-9;]*[mJK])+\Z")


def session_lines(event: SessionStarted, time: str, columns: int) -> list[str]:
    """The first lines of a session that began at `time` (as in its record), for a screen of so many columns."""
    words = "goes on" if event.resumed else f"session {safe_line(event.session_id, 80)}"
    when = safe_line(time[:19]).replace("T", " ")
    parts = ["agent-shell", words, f"{when} UTC", shown(event.cwd[:200]).replace("\n", " ")]
    if event.origin is not None:
        parts.append(f"{safe_line(event.origin.how, 20)} of {safe_line(event.origin.session, 80)}")
    return list(wrapped(" · ".join(part for part in parts if part), columns))


def goal_prompt(*, is_root: bool, safety_off: bool, color: bool) -> str:
    """Draw what stands before a goal: `root SAFETY OFF ❯ `."""
    marks = [word for word, given in (("root", is_root), ("SAFETY OFF", safety_off)) if given]
    said = paint(" ".join(marks), "red", color=color) + " " if marks else ""
    return f"{said}{paint('❯', 'bold', color=color)} "


def typed(text: str) -> str:
    """A goal as it stands in a prompt: made visible, its further lines indented, its length bounded."""
    lines = shown(text[:_SHOWN_CHARS]).split("\n")
    cut = len(text) > _SHOWN_CHARS or len(lines) > _SHOWN_LINES
    kept = "\n  · ".join(lines[:_SHOWN_LINES])
    return f"{kept} [… {len(text):,} characters]" if cut else kept


def log_line(event: LogRepaired | LogScrubbed | SessionPruned) -> str:
    """Say what happened to the log afterwards."""
    match event:
        case LogRepaired():
            said = "a crash tore a line of the log here"
        case LogScrubbed():
            said = "secrets were taken out of this log afterwards"
        case SessionPruned():
            said = "this session was pruned; nothing else is left of it"
    return f"[{said}]"


class DrawnScreen(MemorySink):
    """A terminal in memory. Never a mere file, which would be given raw output."""

    def __init__(self, look: Look) -> None:
        super().__init__(is_tty=look.animate, color=look.color, columns=look.columns, rows=look.rows)
        self.is_screen = True

    def take(self) -> str:
        """Take what was written since the last time."""
        text = self.text
        self._parts.clear()
        return text


def at_once(emitting: Coroutine[Any, Any, None]) -> None:
    """Run what waits for nothing: the planner's waiting, which would want a loop, is drawn here."""
    try:
        emitting.send(None)
    except StopIteration:
        return
    raise AssertionError("the emitter waited for something")


def ends_line(text: str) -> bool:
    """Tell whether the cursor stands at the start of a line after `text`."""
    return _TRAILING_CONTROLS.sub("", text[-64:]).endswith("\n")


class Frame(Struct, frozen=True, kw_only=True):
    """`text` is for a terminal, and safe there; it appears `delay` seconds after the frame before.

    `marker` names the goal that begins here. `stop`: a reader who goes step by step looks at what stands before this frame.
    `exit_code`: the session ended with it.
    """

    delay: float
    text: str = ""
    marker: str = ""
    stop: bool = False
    exit_code: int | None = None


class Look(Struct, frozen=True, kw_only=True):
    """The screen that is drawn on. `animate`: the cursor may move, so thinking is shown. `idle`: seconds that nothing
    happens at most, None for as long as it took.
    """

    columns: int = 100
    rows: int = 30
    color: bool = True
    animate: bool = True
    idle: float | None = None


_LONGEST_GAP = 366 * 86_400.0  # seconds; beyond that, somebody set the clock or edited the log


class Timeline:
    """Feed it the records in order. Wall clocks go back and forth; what comes out never goes back."""

    def __init__(self) -> None:
        self._wall: float | None = None
        self._at = 0.0
        self._begun: dict[str, float] = {}

    def position(self, record: Record) -> float:
        """Seconds since the first record. Output counts from the start of its command, by the clock that measured it."""
        wall = wall_seconds(record.time)
        if wall is not None:
            if self._wall is not None:
                gap = wall - self._wall
                self._at += gap if 0.0 <= gap <= _LONGEST_GAP else 0.0
            self._wall = wall
        event = record.event
        match event:
            case CommandStarted() | RehearsalStarted():
                self._begun = {event.command_id: self._at}  # one command runs at a time
            case CommandOutput():
                return self._since_start(event.command_id, event.offset)
            case CommandFinished():
                return max(self._at, self._since_start(event.command_id, event.result.duration))
        return self._at

    def _since_start(self, command_id: str, offset: float) -> float:
        begun = self._begun.get(command_id)
        if begun is None or not math.isfinite(offset) or not 0 <= offset <= _LONGEST_GAP:
            return self._at
        return begun + offset


def wall_seconds(time: str) -> float | None:
    """Seconds since 1970 of a record's time, None where that is no time."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
