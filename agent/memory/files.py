"""The file of the memory (see `private_database`), made anew where it is damaged or not ours.

Where no such file can be had there is no memory: nothing needs it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from agent.config.private_folder import make_folder
from agent.recording.private_database import (
    connect_privately,
    is_empty,
    is_marked,
    lock_beside,
    mark,
    objects_of,
    remove_database,
    share_lock,
)

BUSY_SECONDS = 2.0


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
        lock = lock_beside(path, exclusive=False)
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
        lock = lock_beside(path, exclusive=True)
    except (OSError, ValueError):
        return not os.path.lexists(path)
    try:
        remove_database(path)
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
        lock = lock_beside(path, exclusive=True)
    except OSError:
        raise NoMemory("what is remembered is damaged, and another process has it open") from None
    try:
        remove_database(path)
        connection = _connected(path)
        share_lock(lock)
    except (OSError, sqlite3.Error, _NotOurs) as error:
        os.close(lock)
        raise NoMemory(str(error)) from error
    return MemoryFile(connection, lock)


def _connected(path: str) -> sqlite3.Connection:
    connection = connect_privately(path, wait=BUSY_SECONDS, cache_kib=16_000)
    try:
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is not left in free pages
        if is_empty(connection):
            _create(connection)
        if not is_marked(connection, version=VERSION, application=APPLICATION) or objects_of(connection) != TABLES:
            raise _NotOurs
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if is_empty(connection):  # nobody was quicker
        for statement in TABLES.values():
            connection.execute(statement)
        mark(connection, version=VERSION, application=APPLICATION)
    connection.execute("COMMIT")


VERSION = 2
APPLICATION = 0x41534D45  # "ASME"

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    # stamp: what the index said of the session's files when it was last taken in
    "sessions": "CREATE TABLE sessions (path TEXT PRIMARY KEY, stamp TEXT)",
    # id: the goal's row in the index; mark: a hash of all that was taken of it
    "goals": "CREATE TABLE goals (id INTEGER PRIMARY KEY, session TEXT, mark BLOB)",
    "goals_by_session": "CREATE INDEX goals_by_session ON goals (session)",
    "entries": (
        "CREATE TABLE entries (id INTEGER PRIMARY KEY, ident BLOB UNIQUE, key TEXT, goal TEXT, slots TEXT, command TEXT, terms TEXT)"
    ),
    "entries_by_key": "CREATE INDEX entries_by_key ON entries (key, id)",
    "terms": "CREATE TABLE terms (term TEXT, entry INTEGER, PRIMARY KEY (term, entry)) WITHOUT ROWID",
    # kind: taught, ran (without teaching), failed, refused; planner: who proposed it, "" where the person chose it instead of another
    "uses": (
        "CREATE TABLE uses (goal INTEGER, entry INTEGER, at INTEGER, cwd TEXT, kind TEXT, edited INTEGER, level INTEGER, planner TEXT)"
    ),
    "uses_by_entry": "CREATE INDEX uses_by_entry ON uses (entry, at)",
    "uses_by_goal": "CREATE INDEX uses_by_goal ON uses (goal)",
    "runs": "CREATE TABLE runs (goal INTEGER, shape BLOB, at INTEGER, cwd TEXT, worked INTEGER)",
    "runs_by_shape": "CREATE INDEX runs_by_shape ON runs (shape, at)",
    "runs_by_goal": "CREATE INDEX runs_by_goal ON runs (goal)",
}
"""Name -> statement, as SQLite keeps it."""
