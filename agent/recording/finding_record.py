"""One record of a long log by its number, without reading what stands before it."""

from __future__ import annotations

import os
from typing import BinaryIO

from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import Line, read_line
from agent.recording.disk import open_log
from agent.recording.reader import SessionFile

_NEAR = 256 * 1024  # bytes in which lines are gone through one by one
_END = 256 * 1024  # bytes of a log's end


def line_in(session: SessionFile, seq: int) -> bytes | None:
    """As `line_of`, in that of the session's files that has the record."""
    for path in reversed(session.files):
        with open_log(path) as file:
            _, first = _next_record(file, 0, os.fstat(file.fileno()).st_size, whole=True)
        if first is not None and first.seq <= seq:
            return line_of(path, seq)
    return None


def last_keys(session: SessionFile) -> list[Line]:
    """The keys of the last records of a session. Raises IoError."""
    with open_log(session.files[-1]) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
        lines = file.read(_END).split(b"\n")
    return [keys for line in lines if (keys := read_line(line)) is not None]


def line_of(path: str, seq: int) -> bytes | None:
    """The line of the record `seq` in a file whose records stand in order; None where it is not found so. Raises IoError.

    Where they do not, as in a log that somebody made up, it may be there all the same.
    """
    with open_log(path) as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while high - low > _NEAR:
            middle = (low + high) // 2
            begins, keys = _next_record(file, middle, high)
            if keys is None or keys.seq > seq:  # at or before the middle, or there are only very long lines behind it
                high = middle
            else:
                low = begins
        # The line that begins before the middle may end behind it: `high` bounds where lines begin, not where they end.
        file.seek(low)
        while file.tell() <= high and (line := file.readline(MAX_LINE + 1)):
            found = read_line(line)
            if found is not None and found.seq == seq:
                return line
    return None


def _next_record(file: BinaryIO, place: int, end: int, *, whole: bool = False) -> tuple[int, Line | None]:
    """Where the first record begins that begins behind `place` and not behind `end`, and its keys; None where there is none.

    `whole`: a line begins at `place`, and counts.
    """
    file.seek(place)
    if not whole:
        file.readline(MAX_LINE)
    while (begins := file.tell()) <= end and (line := file.readline(MAX_LINE + 1)):
        if (found := read_line(line)) is not None:
            return begins, found
    return place, None
