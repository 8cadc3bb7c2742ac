"""Output log of a background job: a 0600 file in a 0700 folder, in memory where nothing may stay on disk."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from contextlib import suppress

from agent.config.paths import make_folder
from agent.config.private_file import closing

DISK_CAP = 16 << 20
MEMORY_CAP = 1 << 20
KEPT = 1 << 16
KEEP_FILES = 50
KEEP_SECONDS = 14 * 86_400


class JobLog:
    """An open log; `path` is "" in memory. The guardian writes through a copy of `fd`, also when we are gone."""

    def __init__(self, fd: int, path: str, cap: int) -> None:
        self.fd = fd
        self.path = path
        self.cap = cap
        self._ended: tuple[int, bytes] | None = None

    @property
    def size(self) -> int:
        if self._ended is not None:
            return self._ended[0]
        return os.fstat(self.fd).st_size

    def tail(self, limit: int) -> bytes:
        """The last `limit` bytes, from the start of a line on where something is left out."""
        size = self.size
        if self._ended is not None:
            kept = self._ended[1][-limit:]
            return kept if len(kept) == size else kept.partition(b"\n")[2]
        if size <= limit:
            return os.pread(self.fd, limit, 0)
        return os.pread(self.fd, limit, size - limit).partition(b"\n")[2]

    def end(self) -> None:
        """Nobody writes any more: let go of it, but keep its end in memory. What is on disk stays."""
        if self._ended is None:
            size = self.size
            self._ended = size, os.pread(self.fd, KEPT, max(0, size - KEPT))
            os.close(self.fd)

    def discard(self) -> None:
        if self.path:
            with suppress(OSError):
                os.unlink(self.path)
        os.close(self.fd)


def open_log(folder: str | None) -> JobLog:
    """A fresh log in `folder`, or in memory for None and where the folder cannot be used. Raises OSError where nothing can be made."""
    if folder is not None:
        with suppress(OSError):
            return _on_disk(folder)
    try:
        return JobLog(os.memfd_create("agent-shell-job"), "", MEMORY_CAP)
    except (AttributeError, OSError):
        fd, path = tempfile.mkstemp(prefix="agent-shell-job-")
        os.unlink(path)
        return JobLog(fd, "", MEMORY_CAP)


def _on_disk(folder: str) -> JobLog:
    make_folder(folder)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionError("the folder is somebody else's")
    if stat.S_IMODE(status.st_mode) & 0o077:
        os.chmod(folder, 0o700)
    remove_old(folder)
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}-{os.urandom(3).hex()}.log"
    path = os.path.join(folder, name)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_SH)  # held by the job's guardian too: who cannot lock it alone knows that it is in use
    return JobLog(fd, path, DISK_CAP)


def remove_old(folder: str) -> None:
    """Remove logs of ended jobs that are old or too many. Never raises."""
    with suppress(OSError):
        names = sorted((name for name in os.listdir(folder) if name.endswith(".log")), reverse=True)
        for number, name in enumerate(names):
            path = os.path.join(folder, name)
            if number >= KEEP_FILES or os.lstat(path).st_mtime < time.time() - KEEP_SECONDS:
                _remove_unused(path)


def _remove_unused(path: str) -> None:
    with suppress(OSError), closing(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
