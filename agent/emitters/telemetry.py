"""Write events as flat JSON lines for dashboards (`--telemetry-file`): counts, durations, statuses, never text."""

from __future__ import annotations

import errno
import os

from agent.emitters.telemetry_fields import FLAT, fields
from agent.protocol.errors import WriteFailed
from agent.protocol.events.known import UNRECORDED
from agent.protocol.records import Record, event_type

VERSION = 1

_LATER = {errno.EAGAIN, errno.EWOULDBLOCK}


class TelemetryEmitter:
    """Appends one line an event to `fd`, which must be open for appending; `owner`, the file that it belongs to, is kept alive.

    Each line is one write, so that several processes can share a file. Where nobody takes a line (a pipe that is full) it is dropped, and
    the next one says how many were. Raises WriteFailed.
    """

    def __init__(self, fd: int, *, owner: object = None) -> None:
        self._fd = fd
        self._owner = owner
        self._dropped = 0

    async def emit(self, record: Record) -> None:
        if isinstance(record.event, UNRECORDED):
            return
        line = telemetry_line(record, dropped=self._dropped)
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            if error.errno in _LATER:
                self._dropped += 1
                return
            raise WriteFailed(str(error.strerror)) from error
        if written < len(line):
            raise WriteFailed("the telemetry file takes no more")
        self._dropped = 0

    def output(self, stream: str, data: bytes) -> None:
        pass


def telemetry_line(record: Record, *, dropped: int = 0) -> bytes:
    """One line: the envelope, what the event's type tells in numbers. No value is a list or an object."""
    from msgspec import json

    line: dict[str, FLAT] = {
        "v": VERSION,
        "seq": record.seq,
        "time": record.time,
        "session": record.session,
        "run": record.run,
        "goal_id": record.goal_id,
        "type": event_type(record.event),
        **fields(record.event),
    }
    if dropped:
        line["dropped"] = dropped
    try:
        return json.encode(line) + b"\n"
    except UnicodeEncodeError:  # lone surrogates
        from json import dumps

        return dumps(line).encode() + b"\n"
