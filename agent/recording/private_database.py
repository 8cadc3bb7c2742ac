"""SQLite files that only their owner can read, and that are looked at before they are believed: what the index and the memory share.

Who uses such a file holds a shared lock on another file beside it, and who replaces it an exclusive one: a database must not be
replaced under somebody who reads it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_BESIDE = ("", "-wal", "-shm", "-journal")


class OpenDatabase:
    """A database that is held open by the lock beside it, -1 for none; `connection` may be used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, lock: int = -1) -> None:
        self.connection = connection
        self._lock = lock

    def close(self) -> None:
        """Give up the file. Never raises."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def lock_beside(path: str, *, exclusive: bool, wait: float = 0.0) -> int:
    """A lock on the file beside the database at `path`: its descriptor, which to close gives it up.

    Waits up to `wait` seconds. Raises BlockingIOError where somebody else has it, OSError where it cannot be had at all.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    lock = os.open(f"{path}-lock", flags, 0o600)
    kind = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    ends = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(lock, kind)
            return lock
        except BlockingIOError:
            if time.monotonic() >= ends:
                os.close(lock)
                raise
            time.sleep(0.02)
        except BaseException:
            os.close(lock)
            raise


def share_lock(lock: int) -> None:
    """Make an exclusive lock a shared one."""
    fcntl.flock(lock, fcntl.LOCK_SH)


def remove_database(path: str) -> None:
    """Remove a database with what lies beside it, but for its lock. Raises OSError."""
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(path + end)


def connect_privately(path: str, *, wait: float, cache_kib: int) -> sqlite3.Connection:
    """The database at `path`, an empty one where there was none; statements commit by themselves.

    `wait`: seconds that a statement waits for other processes. Raises OSError for what is no private file of ours, sqlite3.Error.
    """
    for end in _BESIDE:
        _check(path + end)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # it may have been put there by somebody else
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{cache_kib}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what is done within, or nothing of it. Raises sqlite3.Error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a database has no tables yet."""
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def mark(connection: sqlite3.Connection, *, version: int, application: int) -> None:
    """Write whose database it is, and of which version."""
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {application}")


def is_marked(connection: sqlite3.Connection, *, version: int, application: int) -> bool:
    """Tell whether it is ours, and of this version."""
    numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")]
    return numbers == [version, application]


def objects_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Everything that was created in a database, by name, as the SQL that made it."""
    return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"))


def _check(path: str) -> None:
    """A private regular file of ours, or none. Raises OSError."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_nlink != 1:
        raise OSError(f"{path} is not a file of ours")
    if stat.S_IMODE(info.st_mode) != 0o600:
        os.chmod(path, 0o600)
