"""Treat a session's log as one thing, though it may lie in several files: it grows in the last one, and the first one carries the lock."""

from __future__ import annotations

import os

from msgspec import Struct

from agent.protocol.errors import RecordingError
from agent.recording.chained_lines import ChainedLine, Link
from agent.recording.disk import REAL_DISK, Disk
from agent.recording.logfile import LogEnd, LogFile
from agent.recording.naming import segment_path, segment_paths

ROTATED = "log.rotated"


class End(Struct, frozen=True):
    """The place where a log is to be continued. `link` is its place in the chain, `last` its last record (None: there is none).

    `torn` bytes of a crash begin in line `line`; `open_end`: the file's last line lacks its newline. `begins`: the file
    is a following one and its first record is still to be written.
    """

    link: Link
    last: ChainedLine | None
    torn: bytes | None
    open_end: bool
    line: int
    begins: bool


class SessionLog:
    """The files of one session, open for writing. The methods but `close` raise RecordingError."""

    def __init__(self, first: str, disk: Disk = REAL_DISK) -> None:
        self.path = first
        self.number = 1
        self._disk = disk
        self._guard = LogFile(first, disk)  # locked as long as the session is open, whichever file it has come to
        self._file = self._guard

    @property
    def size(self) -> int:
        """Bytes of the file that it has come to."""
        return self._file.size

    @property
    def name(self) -> str:
        """The name of the file that it has come to."""
        return os.path.basename(self._file.path)

    @property
    def name_before(self) -> str:
        """The name of the file before that one, empty for the first."""
        return os.path.basename(segment_path(self.path, self.number - 1)) if self.number > 1 else ""

    def first_line(self) -> bytes | None:
        """The line of the log's first record."""
        return self._guard.first_line()

    def find_end(self) -> End:
        """Go to the last file that holds something, and say how it ends. To be called once, before anything is appended."""
        number = len(segment_paths(self.path)) if self.first_line() is not None else 1  # without a beginning: anew
        while True:
            self._move_to(number)
            tail = self._file.tail()
            if number > 1:
                before = self._tail_of(number - 1)
                if before.last is None or before.last.type != ROTATED:
                    number -= 1  # a file that was only prepared, or is none of ours
                    continue
                if tail.last is None:
                    if before.open_end and before.broken is None:
                        self._end_line(number - 1)
                    return self._end(tail, before.link, before.last, begins=True)
            if tail.last is not None and tail.last.type == ROTATED and tail.broken is None:
                if tail.open_end:
                    self._end_line(number)
                self._move_to(number + 1)
                return self._end(self._file.tail(), tail.link, tail.last, begins=True)
            return self._end(tail, tail.link, tail.last, begins=False)

    @property
    def intact(self) -> bool:
        """Tell whether it may be written to again after a write that failed."""
        return self._file.intact

    def check(self) -> None:
        """Raise RecordingError where it may not be written to any more."""
        self._file.check()

    def append(self, line: bytes, *, sync: bool) -> None:
        """Write whole lines at the end."""
        self._file.append(line, sync=sync)

    def prepare_next(self) -> LogFile:
        """The file that comes after this one, open and still empty."""
        following = LogFile(segment_path(self.path, self.number + 1), self._disk)
        if following.size:
            following.close()
            raise RecordingError(f"there is a file in the place of the next one of this log: {following.path}")
        return following

    def go_on_in(self, following: LogFile) -> None:
        """From now on lines go there."""
        self._leave()
        self._file = following
        self.number += 1

    def close(self) -> None:
        """Give up files and lock. Never raises."""
        self._file.close()
        self._guard.close()

    def _end(self, tail: LogEnd, link: Link, last: ChainedLine | None, *, begins: bool) -> End:
        line = 0
        if tail.broken is not None or tail.open_end:
            lacking = tail.line if tail.broken is None else tail.broken
            line = 1 + self._file.lines_before(self._file.size - len(lacking) - (not tail.open_end))
        return End(link, last, tail.broken, tail.open_end, line, begins)

    def _tail_of(self, number: int) -> LogEnd:
        if number == 1:
            return self._guard.tail()
        file = LogFile(segment_path(self.path, number), self._disk)
        try:
            return file.tail()
        finally:
            file.close()

    def _end_line(self, number: int) -> None:
        """A kill took the newline of the last line that the file will ever have; nothing can be written behind it to say so."""
        if number == self.number:
            self._file.append(b"\n", sync=True)
            return
        file = self._guard if number == 1 else LogFile(segment_path(self.path, number), self._disk)
        try:
            file.append(b"\n", sync=True)
        finally:
            if file is not self._guard:
                file.close()

    def _move_to(self, number: int) -> None:
        if number != self.number:
            self._leave()
            self._file = self._guard if number == 1 else LogFile(segment_path(self.path, number), self._disk)
            self.number = number

    def _leave(self) -> None:
        if self._file is not self._guard:
            self._file.close()
