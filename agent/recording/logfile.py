"""Append to a file of lines that one process at a time may write, and that survives a crash at any byte."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress

from msgspec import Struct

from agent.protocol.errors import RecordingError
from agent.recording.chained_lines import BEFORE_FIRST, ChainedLine, Link, line_hash, read_chained
from agent.recording.disk import PRIVATE_FILE, REAL_DISK, Disk, sync_folder

_TAIL_WINDOW = 64 * 1024
_TAIL_LIMIT = 64 * 1024 * 1024
_COUNT_WINDOW = 8 * 1024 * 1024
_NEWLINE = 10
_LOCK_PAUSES = (0.01, 0.02, 0.04, 0.08, 0.16)  # seconds: a scrub of a small log is done within them
_OPEN_TRIES = 10
_ANOTHER = "choose another --session-id"
# Some file systems cannot sync; that is not a fault of the disk.
_CANNOT_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file may not grow further",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EIO: "the disk reports an error",
}


class LogEnd(Struct, frozen=True):
    """The end of a file: its last record, and what stands behind that and is no record (None: nothing does).

    `line` is the last record's, without newline; `broken` are bytes that a crash left, of one line or several, without
    the last newline. `open_end`: the file does not end with a newline.
    """

    last: ChainedLine | None = None
    line: bytes = b""
    broken: bytes | None = None
    open_end: bool = False

    @property
    def link(self) -> Link:
        """Its place in the chain."""
        return Link(self.last.seq, line_hash(self.line)) if self.last else BEFORE_FIRST


class LogFile:
    """One open file. Every method but `close` raises RecordingError; after a failed write all later ones fail too, unless it is
    `intact`: there was no space, and nothing of the line is left.

    It is made where it is not there, unless `make` is False.
    """

    def __init__(self, path: str, disk: Disk = REAL_DISK, *, make: bool = True) -> None:
        self.path = path
        self._disk = disk
        self._broken: RecordingError | None = None
        self._fd = _open_owned(path, disk, make=make)
        self.size = os.fstat(self._fd).st_size

    def tail(self) -> LogEnd:
        """Find out how the file ends. Reads backwards in growing windows, so that a log of gigabytes opens at once."""
        window = _TAIL_WINDOW
        while True:
            start = max(0, self.size - window)
            data = self._read(start, self.size)
            end = len(data)
            while end > 0:
                stop = end - 1 if data[end - 1] == _NEWLINE else end
                begin = data.rfind(b"\n", 0, stop) + 1
                if begin == 0 and start > 0:
                    break  # this line may have lost its beginning
                if last := read_chained(data[begin:stop]):
                    after = data[end:].removesuffix(b"\n") if end < len(data) else None
                    return LogEnd(last, data[begin:stop], after, not data.endswith(b"\n"))
                end = begin
            if start == 0:
                return LogEnd(broken=data.removesuffix(b"\n") if data else None, open_end=data[-1:] not in (b"", b"\n"))
            if window >= _TAIL_LIMIT:
                raise RecordingError(f"the end of the session log {self.path} cannot be understood", hint=_ANOTHER)
            window *= 8

    def first_line(self) -> bytes | None:
        """The line of the first record, without newline; None where there is none."""
        position, held = 0, b""
        while position < self.size:
            data = self._read(position, min(self.size, position + _TAIL_WINDOW))
            position += len(data)
            *whole, held = (held + data).split(b"\n")
            if position == self.size:
                whole.append(held)
            for line in whole:
                if read_chained(line):
                    return line
            if len(held) > _TAIL_LIMIT or not data:
                break
        return None

    def lines_before(self, position: int) -> int:
        """Count the lines that end before byte `position`."""
        starts = range(0, position, _COUNT_WINDOW)
        return sum(self._read(start, min(position, start + _COUNT_WINDOW)).count(b"\n") for start in starts)

    def _read(self, start: int, end: int) -> bytes:
        try:
            return os.pread(self._fd, end - start, start)
        except OSError as error:
            raise self._failed("read", error) from error

    def append(self, line: bytes, *, sync: bool) -> None:
        """Write one line, in one call where the system does its part.

        What could not be written whole is taken back, as far as that is possible.
        """
        self.check()
        try:
            written = self._disk.write(self._fd, line)
            if written < len(line):  # asking again for the rest tells the reason
                written += self._disk.write(self._fd, line[written:])
            if written != len(line):
                raise OSError(errno.ENOSPC, "short write")
            self.size += written
        except OSError as error:
            if self._taken_back(len(line)) and error.errno in _NO_SPACE:
                raise self._failed("written", error) from error
            raise self._break("written", error) from error
        if sync:
            self.sync()

    def sync(self) -> None:
        """Wait until the disk has it."""
        try:
            if os.fstat(self._fd).st_nlink == 0:
                raise OSError(errno.ENOENT, "it was deleted")
            self._disk.fsync(self._fd)
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:
                raise self._break("kept safe", error) from error

    def check(self) -> None:
        """Raise RecordingError where it may not be written to any more."""
        if self._broken:
            raise self._broken

    @property
    def intact(self) -> bool:
        """Tell whether it may be written to again."""
        return self._broken is None

    def _taken_back(self, length: int) -> bool:
        """Cut a partial line off, but never more than what we may just have written; whether nothing of it is left."""
        try:  # else the torn line stays; the next opening closes it off
            if self.size < os.fstat(self._fd).st_size <= self.size + length:
                self._disk.truncate(self._fd, self.size)
            return os.fstat(self._fd).st_size == self.size
        except OSError:
            return False

    def _break(self, what: str, error: OSError) -> RecordingError:
        self._broken = self._failed(what, error)
        return self._broken

    def _failed(self, what: str, error: OSError) -> RecordingError:
        return RecordingError(f"the session log {self.path} cannot be {what}: {reason_of(error)}", hint=hint_for(error))

    def close(self) -> None:
        """Give up file and lock. Never raises."""
        if self._fd < 0:
            return
        with suppress(OSError):  # nothing was buffered: all that matters was synced before
            os.close(self._fd)
        self._fd = -1
        closed = RecordingError(f"the session log {self.path} is closed", hint="start another session")
        self._broken = self._broken or closed


def hint_for(error: OSError) -> str:
    """Say what helps: space, or another place."""
    if error.errno in _NO_SPACE:
        return "nothing runs unrecorded; free some space, and the next goal tries again, or use --no-persist"
    return ""


def reason_of(error: OSError) -> str:
    """The error in words for people."""
    return _REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()


def _open_owned(path: str, disk: Disk, *, make: bool) -> int:
    """Open and lock it; once more where somebody who rewrote it put another file in its place meanwhile."""
    for _ in range(_OPEN_TRIES):
        fd = _open(path, disk, make=make)
        try:
            _own(fd, path)
            if _is_still(fd, path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
    raise RecordingError(f"the session log {path} is being replaced again and again", hint="try again")


def _open(path: str, disk: Disk, *, make: bool) -> int:
    existed = not make or os.path.lexists(path)
    flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if make else 0) | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = disk.open(path, flags, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            hint = "remove the link, or choose another --session-id"
            raise RecordingError(f"the session log {path} is a symbolic link", hint=hint) from None
        words = f"the session log {path} cannot be opened: {reason_of(error)}"
        raise RecordingError(words, hint=hint_for(error)) from error
    if not existed:
        sync_folder(os.path.dirname(path), disk)
    return fd


def _own(fd: int, path: str) -> None:
    """Make sure that this is a private, regular file, and that nobody else writes it."""
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        raise RecordingError(f"the session log {path} is not a regular file", hint=_ANOTHER)
    if info.st_nlink > 1:
        words = f"the session log {path} has another hard link: whatever is written here would be written there, too"
        hint = "put a copy in its place (cp it, and mv the copy over it), or choose another --session-id"
        raise RecordingError(words, hint=hint)
    try:
        _lock(fd)
    except BlockingIOError:
        hint = "close the other agent-shell, or choose another --session-id"
        raise RecordingError(f"another process is writing the session log {path}", hint=hint) from None
    except OSError as error:
        raise RecordingError(f"the session log {path} cannot be locked: {reason_of(error)}") from error
    if stat.S_IMODE(info.st_mode) != PRIVATE_FILE:
        try:
            os.fchmod(fd, PRIVATE_FILE)
        except OSError as error:
            words = f"the session log {path} can be read by others and its mode cannot be changed: {reason_of(error)}"
            raise RecordingError(words) from error


def _lock(fd: int) -> None:
    """Raises BlockingIOError where somebody else goes on holding it: who only looks at a log, or rewrites it, soon lets go."""
    for pause in _LOCK_PAUSES:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(pause)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_still(fd: int, path: str) -> bool:
    """Tell whether the path still leads to the open file: a log can be rewritten between opening and locking it."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False
