"""The file of the memory: private, looked at before it is believed, made anew where it is damaged or not ours.

Who uses it holds a shared lock on another file beside it, and who replaces it an exclusive one. Where no such file can be had there
is no memory: nothing needs it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from contextlib import suppress

from agent.config.private_folder import make_folder
from agent.recording.memory.schema import APPLICATION, TABLES, VERSION

BUSY_SECONDS = 2.0
_BESIDE = ("", "-wal", "-shm", "-journal")


class NoMemory(Exception):
    """There can be no memory here now; the text says why."""


class MemoryFile:
    """One open database; `connection` may be used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, lock: int) -> None:
        self.connection = connection
        self._lock = lock

    def close(self) -> None:
        """Give up the file. Never raises."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def open_file(path: str, *, make: bool = True) -> MemoryFile:
    """The memory at `path`, empty where there was none that can be used. Without `make` only one that is there. Raises NoMemory."""
    try:
        if not make and not os.path.lexists(path):
            raise NoMemory("nothing is remembered yet")
        make_folder(os.path.dirname(path))
        lock = _locked(path, exclusive=False)
    except (OSError, ValueError) as error:
        raise NoMemory(str(error)) from error
    try:
        try:
            return MemoryFile(_connected(path), lock)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise
            return _replaced(path, lock)
        except (sqlite3.DatabaseError, _NotOurs):
            return _replaced(path, lock)
    except NoMemory:
        raise
    except (OSError, ValueError, sqlite3.Error) as error:
        with suppress(OSError):
            os.close(lock)
        raise NoMemory(str(error)) from error


def remove_file(path: str) -> bool:
    """Remove the memory, if nobody else has it open; whether it is gone."""
    try:
        lock = _locked(path, exclusive=True)
    except (OSError, ValueError):
        return not os.path.lexists(path)
    try:
        _remove(path)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


class _NotOurs(Exception):
    pass


def _replaced(path: str, lock: int) -> MemoryFile:
    """Made anew under the exclusive lock. Raises NoMemory where somebody else has it open."""
    os.close(lock)
    try:
        lock = _locked(path, exclusive=True)
    except OSError:
        raise NoMemory("what is remembered is damaged, and another process has it open") from None
    try:
        _remove(path)
        connection = _connected(path)
        fcntl.flock(lock, fcntl.LOCK_SH)
    except (OSError, sqlite3.Error, _NotOurs) as error:
        os.close(lock)
        raise NoMemory(str(error)) from error
    return MemoryFile(connection, lock)


def _remove(path: str) -> None:
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(path + end)


def _locked(path: str, *, exclusive: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    lock = os.open(f"{path}-lock", flags, 0o600)
    try:
        fcntl.flock(lock, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _connected(path: str) -> sqlite3.Connection:
    for end in _BESIDE:
        _check(path + end)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # it may have been put there by somebody else
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is not left in free pages
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            _create(connection)
        numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")]
        query = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        if numbers != [VERSION, APPLICATION] or dict(connection.execute(query)) != TABLES:
            raise _NotOurs
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:  # nobody was quicker
        for statement in TABLES.values():
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("COMMIT")


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
