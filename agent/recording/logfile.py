"""An append-only file of lines that one process at a time may write, and that survives a crash at any byte."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable

import msgspec

from agent.protocol.errors import RecordingError
from agent.protocol.events import Record, decode
from agent.recording.folder import PRIVATE_FILE

_TAIL_WINDOW = 64 * 1024
_TAIL_LIMIT = 64 * 1024 * 1024
# Some file systems cannot sync; that is not a fault of the disk.
_CANNOT_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file may not grow further",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EIO: "the disk reports an error",
}


class LogFile:
    """One open log. Every method but `close` raises RecordingError; after a failed write all later ones fail too.

    `write` and `fsync` are parameters so that tests can inject faults.
    """

    def __init__(
        self,
        path: str,
        *,
        write: Callable[[int, bytes], int] = os.write,
        fsync: Callable[[int], None] = os.fsync,
    ) -> None:
        self.path = path
        self._write = write
        self._fsync = fsync
        self._broken: RecordingError | None = None
        self._fd = _open(path)
        try:
            _own(self._fd, path)
            self.size = os.fstat(self._fd).st_size
            self.created = self.size == 0
        except BaseException:
            os.close(self._fd)
            raise

    def tail(self) -> tuple[Record | None, bytes]:
        """The last whole record, and the torn line after the last newline (empty where there is none).

        Reads backwards in growing windows, so that a log of gigabytes opens at once.
        """
        window = _TAIL_WINDOW
        while True:
            start = max(0, self.size - window)
            try:
                data = os.pread(self._fd, self.size - start, start)
            except OSError as error:
                raise self._failed("read", error) from error
            lines = data.split(b"\n")
            torn = lines.pop()
            whole = lines if start == 0 else lines[1:]  # the first one may have lost its beginning
            for line in reversed(whole):
                if record := _record_of(line):
                    return record, torn
            if start == 0:
                return None, torn
            if window >= _TAIL_LIMIT:
                raise RecordingError(
                    f"the end of the session log {self.path} cannot be understood", hint="choose another --session-id"
                )
            window *= 8

    def append(self, line: bytes, *, sync: bool) -> None:
        """Write one line, in one call where the system does its part.

        What could not be written whole is taken back, as far as that is possible.
        """
        if self._broken:
            raise self._broken
        try:
            written = self._write(self._fd, line)
            if written < len(line):  # asking again for the rest tells the reason
                written += self._write(self._fd, line[written:])
            if written != len(line):
                raise OSError(errno.ENOSPC, "short write")
            self.size += written
        except OSError as error:
            self._take_back(len(line))
            raise self._break("written", error) from error
        if sync:
            self._sync()

    def _sync(self) -> None:
        try:
            if os.fstat(self._fd).st_nlink == 0:
                raise OSError(errno.ENOENT, "it was deleted")
            self._fsync(self._fd)
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:
                raise self._break("kept safe", error) from error

    def _take_back(self, length: int) -> None:
        """Cut a partial line off, but never more than what we may just have written."""
        try:
            if self.size < os.fstat(self._fd).st_size <= self.size + length:
                os.ftruncate(self._fd, self.size)
        except OSError:
            pass  # the torn line stays; the next opening closes it off

    def _break(self, what: str, error: OSError) -> RecordingError:
        self._broken = self._failed(what, error)
        return self._broken

    def _failed(self, what: str, error: OSError) -> RecordingError:
        return RecordingError(f"the session log {self.path} cannot be {what}: {reason_of(error)}")

    def close(self) -> None:
        """Give up file and lock. Never raises."""
        if self._fd < 0:
            return
        try:
            os.close(self._fd)
        except OSError:
            pass  # nothing was buffered: all that matters was synced before
        self._fd = -1
        self._broken = self._broken or RecordingError(
            f"the session log {self.path} is closed", hint="start another session"
        )


def reason_of(error: OSError) -> str:
    """The error in words for people."""
    return _REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()


def _open(path: str) -> int:
    existed = os.path.lexists(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RecordingError(
                f"the session log {path} is a symbolic link", hint="remove the link, or choose another --session-id"
            ) from None
        raise RecordingError(f"the session log {path} cannot be opened: {reason_of(error)}") from error
    if not existed:
        _sync_folder(os.path.dirname(path))
    return fd


def _own(fd: int, path: str) -> None:
    """Make sure that this is a private, regular file, and that nobody else writes it."""
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        raise RecordingError(f"the session log {path} is not a regular file", hint="choose another --session-id")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RecordingError(
            f"another process is writing the session log {path}",
            hint="close the other agent-shell, or choose another --session-id",
        ) from None
    except OSError as error:
        raise RecordingError(f"the session log {path} cannot be locked: {reason_of(error)}") from error
    if stat.S_IMODE(info.st_mode) != PRIVATE_FILE:
        try:
            os.fchmod(fd, PRIVATE_FILE)
        except OSError as error:
            raise RecordingError(
                f"the session log {path} can be read by others and its mode cannot be changed: {reason_of(error)}"
            ) from error


def _sync_folder(folder: str) -> None:
    """Make the new name itself survive a power cut, where the file system can."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass  # not every file system syncs folders
    finally:
        os.close(fd)


def _record_of(line: bytes) -> Record | None:
    try:
        return decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
