"""Keep the file of the memory (see `private_database`), made anew where it is damaged or not ours.

Where no such file can be had there is no memory: nothing needs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct

from agent.config.paths import make_folder
from agent.config.private_file import append_whole
from agent.protocol.errors import IoError
from agent.recording.private_database import (
    OpenDatabase,
    connect_privately,
    is_empty,
    is_marked,
    lock_beside,
    mark,
    objects_of,
    remove_database,
    share_lock,
    transaction,
)

EVERYTHING = "*"
_MAX_FILE = 16 * 1024 * 1024


class Span(Struct, frozen=True):
    """A command that was forgotten, with all its runs from `since` to `until` (microseconds since the epoch, both counted)."""

    what: str
    since: int
    until: int


class Forgotten:
    """The list at `path`. One that cannot be read forgets everything that could be in it, until it can be read again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._salt = b""
        self._spans: dict[str, list[Span]] = {}
        self.stamp = ""
        self.unreadable = False
        self.load()

    def load(self) -> None:
        """Read what is new in the file."""
        self._spans, self._salt, self.unreadable = {}, b"", False
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            self.stamp = ""
            return
        except (OSError, ValueError):
            self.unreadable = True
            return
        with os.fdopen(fd, "rb") as file:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_size > _MAX_FILE:
                self.unreadable = True
                return
            self.stamp = f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"
            self._read(file.read().splitlines())

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                if "salt" in entry:
                    self._salt = self._salt or bytes.fromhex(entry["salt"])
                    continue
                span = Span(str(entry["what"]), int(entry["since"]), int(entry["until"]))
            except (ValueError, TypeError, KeyError):
                self.unreadable = True  # a torn line may have been one that forgets
                return
            self._spans.setdefault(span.what, []).append(span)

    def covers(self, goal: str, command: str, at: int) -> bool:
        """Tell whether a run of `command` for a goal of this key at that time is forgotten."""
        if self.unreadable:
            return True
        if not self._spans:
            return False
        spans = [*self._spans.get(EVERYTHING, ()), *self._spans.get(self._hash(goal, command), ())]
        return any(span.since <= at <= span.until for span in spans)

    def add(self, pairs: Iterable[tuple[str, str]] | None, *, since: int = 0, until: int) -> None:
        """Forget these commands (key of the goal, command) in that time; None: everything. Raises IoError."""
        if self.unreadable:
            hint = "move that file away to start without it"
            raise IoError(f"the list of what was forgotten cannot be used: {self._path}", hint=hint)
        lines: list[dict[str, str | int]] = []
        if not self._salt:
            self._salt = secrets.token_bytes(16)
            lines.append({"salt": self._salt.hex()})
        wanted = {EVERYTHING} if pairs is None else {self._hash(goal, command) for goal, command in pairs}
        lines += [{"what": what, "since": since, "until": until} for what in sorted(wanted)]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        try:
            make_folder(os.path.dirname(self._path))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            fd = os.open(self._path, flags, 0o600)
            try:
                os.fchmod(fd, 0o600)
                append_whole(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
        except (OSError, ValueError) as error:
            raise IoError(f"what is to be forgotten cannot be noted in {self._path}: {error}") from error
        self.load()

    def _hash(self, goal: str, command: str) -> str:
        text = f"{goal}\0{command}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._salt or b"-", digest_size=16).hexdigest()


BUSY_SECONDS = 2.0


class NoMemory(Exception):
    """There can be no memory here now; the text says why."""


def open_file(path: str, *, make: bool = True) -> OpenDatabase:
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
            return OpenDatabase(_connected(path), lock)
        except (sqlite3.DatabaseError, _NotOurs) as error:
            if is_busy(error):
                raise
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


def is_busy(error: Exception) -> bool:
    """Tell whether another process has the database in use."""
    return isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error))


class _NotOurs(Exception):
    pass


def _replaced(path: str, lock: int) -> OpenDatabase:
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
    return OpenDatabase(connection, lock)


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
    with transaction(connection):
        if is_empty(connection):  # nobody was quicker
            for statement in TABLES.values():
                connection.execute(statement)
            mark(connection, version=VERSION, application=APPLICATION)


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
