"""Compute when things happened in a session, in seconds since its first record, from times that may lie."""

from __future__ import annotations

import math
from datetime import datetime

from agent.protocol.events import CommandFinished, CommandOutput, CommandStarted, Record, RehearsalStarted

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
