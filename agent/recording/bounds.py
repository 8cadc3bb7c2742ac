"""Limits on the size of a record."""

from __future__ import annotations

from msgspec import structs

from agent.protocol.errors import RecordingError
from agent.protocol.events import Event, Record, encode
from agent.recording.event_text import TextChange, map_text

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line in the log; readers rely on it too."""

_TEXT_LIMITS = (1024 * 1024, 64 * 1024, 4096)
"""Characters of one text: the next smaller limit is tried when the whole line is still too long."""

# What was run is recorded in full or not run at all.
_NEVER_SHORTENED = frozenset({"command", "proposed", "run"})


def bounded_line(record: Record) -> tuple[Record, bytes]:
    """The record as it can be written, and its line. Long texts lose their middle; RecordingError where a command is too long."""
    for limit in _TEXT_LIMITS:
        record = _with_event(record, map_text(record.event, _shortener(limit)))
        line = encode(record)
        if len(line) <= MAX_LINE:
            return record, line
    raise RecordingError(
        f"an event of {len(line):,} bytes is too large to be recorded", hint="nothing runs unrecorded; make it smaller"
    )


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text longer than `limit` characters, with a line that says how much is missing."""
    if len(text) <= limit:
        return text
    half = limit // 2 - 32
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters not recorded …]\n{text[-half:]}"


def _shortener(limit: int) -> TextChange:
    def change(name: str, text: str) -> str:
        if len(text) <= limit:
            return text
        if name in _NEVER_SHORTENED:
            if len(text) <= _TEXT_LIMITS[0]:
                return text
            raise RecordingError(
                f"a command of {len(text):,} characters is too long to be recorded",
                hint="nothing runs unrecorded; put it into a script and run that",
            )
        return shorten(text, limit)

    return change


def _with_event(record: Record, event: Event) -> Record:
    if event is record.event:
        return record
    return structs.replace(record, event=event)
