"""Bound what a query takes: memory of the process, and a private folder for temporary files that does not outlive it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agent.config.private_file import closing
from agent.protocol.errors import IoError

_MORE = 1 << 30  # bytes beside what DuckDB may take: its threads, what is read of the logs, rows as Python has them
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@contextmanager
def bounded(limit: str) -> Iterator[bool]:
    """While this lasts, the process gets no more than twice `limit` (as DuckDB writes it: `143.0 MiB`) and 1 GiB over what it has now.
    What wants more fails with MemoryError, or with DuckDB's own. False where this system has no such bound.
    """
    import resource

    now = _data()
    if not now:
        yield False
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    room = now + 2 * _bytes(limit) + _MORE
    given = min([room, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (given, hard))
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Bytes that count against the bound now, 0 where the system does not tell."""
    try:
        with open("/proc/self/status", "rb") as file:
            found = re.search(rb"^VmData:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _bytes(limit: str) -> int:
    number, _, unit = limit.partition(" ")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        return 0


PREFIX = "agent-shell-sql-"
_LOCK = "lock"
_NEW = 3600.0  # seconds: a folder without a lock may be one that is being made


class PrivateFolder:
    """0700 in the folder for temporary files; locked while it is in use, so that nobody else takes it for a leftover."""

    def __init__(self) -> None:
        """Make it. Raises IoError."""
        try:
            self.path = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
            # Locked before it has its name: a lock that can be taken is always that of a process that is gone.
            new = os.path.join(self.path, "lock.new")
            self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(new, os.path.join(self.path, _LOCK))
        except OSError as error:
            raise IoError(f"no folder for temporary files: {error.strerror or error}", hint="set TMPDIR") from error

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.path, name)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_leftovers() -> None:
    """Remove the folders of this user that no process holds any more. Never raises."""
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            found = [entry.path for entry in entries if entry.name.startswith(PREFIX)]
    except OSError:
        return
    for path in found:
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(path: str) -> bool:
    try:
        state = os.lstat(path)
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
            return False
        try:
            lock = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return time.time() - state.st_mtime > _NEW
        with closing(lock):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # in use, or not ours to judge
    return True
