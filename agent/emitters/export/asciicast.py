"""Export a session as an asciicast v3 recording: a header line, then `[seconds since the last, kind, text]` a line.

Kinds used: `o` (output), `m` (a marker where a goal begins) and `x` (the exit status). Every text passed the terminal's filter, so a
player is given colours and small movements of the cursor, and nothing that sets a title or a clipboard, or asks the terminal anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from msgspec import json

from agent.emitters.export.frames import Frame, Look, wall_seconds
from agent.emitters.export.screen_script import screen_script
from agent.emitters.paint import safe_line
from agent.protocol.records import Record
from agent.text.shown import inert_json
from agent.version import __version__

COLUMNS, ROWS = 100, 30
IDLE = 2.0
"""Seconds that nothing happens at most; the header tells it, too, as `idle_time_limit`."""

_LAST_PAUSE = 1.0  # seconds that the last picture stands


def asciicast(
    records: Iterable[object], *, columns: int = COLUMNS, rows: int = ROWS, idle: float = IDLE
) -> Iterator[bytes]:
    """The recording line by line. A log without records gives a recording of nothing."""
    stream = iter(records)
    first = next((record for record in stream if isinstance(record, Record)), None)
    yield _line(_header(first, columns, rows, idle))
    if first is None:
        return
    look = Look(columns=columns, rows=rows, idle=idle)
    waited = 0.0  # for frames without text
    ended: Frame | None = None
    for frame in screen_script(itertools.chain([first], stream), look):
        waited += frame.delay
        if frame.exit_code is not None:
            ended = frame
            continue
        if frame.marker:
            yield _event(min(waited, idle), "m", frame.marker)
            waited = 0.0
        if frame.text:
            yield _event(min(waited, idle), "o", frame.text.replace("\n", "\r\n"))
            waited = 0.0
    yield _event(min(waited, idle) + _LAST_PAUSE, "x", str(ended.exit_code if ended is not None else 0))


def _header(first: Record | None, columns: int, rows: int, idle: float) -> dict[str, object]:
    header: dict[str, object] = {
        "version": 3,
        "term": {"cols": columns, "rows": rows, "type": "xterm-256color"},
        "idle_time_limit": idle,
        "command": f"agent-shell {__version__}",
    }
    if first is not None:
        began = wall_seconds(first.time)
        if began is not None and began >= 0:
            header["timestamp"] = int(began)
        header["title"] = f"agent-shell session {safe_line(first.session, 100)}"
    return header


def _event(interval: float, kind: str, text: str) -> bytes:
    return _line([round(interval, 6), kind, text])


def _line(value: object) -> bytes:
    return inert_json(json.encode(value).decode()).encode() + b"\n"
