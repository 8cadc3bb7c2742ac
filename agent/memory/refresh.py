"""Bring the memory up to date with the index of the logs: sessions that have changed are compared goal by goal.

Only logs that were written here teach: those of ours, in a folder of ours alone, whose head this machine keeps. A log that was copied in
would put somebody else's commands before the person.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b

import msgspec

from agent.memory.comparing import shape_of
from agent.memory.files import Forgotten
from agent.memory.model import GoalWords, ReadGoal, Worked
from agent.memory.uses import PastGoal, RanCommand, runs_of, uses_of
from agent.recording.chained_lines import name_of
from agent.recording.index.database import Database
from agent.recording.integrity.heads import find_head, folder_name
from agent.recording.private_database import transaction

PIECE_SECONDS = 0.25
_TABLES = ("sessions", "goals", "entries", "terms", "uses", "runs")

_SESSIONS = (
    "SELECT sessions.id, sessions.path, sessions.session, files.path, inode, size, modified, read FROM files "
    "JOIN sessions ON sessions.id = files.session ORDER BY files.session, part"
)
_GOALS = "SELECT id, goal, origin, status, planner FROM goals WHERE session = ? AND private = 0 AND status <> 'open' ORDER BY id"
_COMMANDS = (
    "SELECT goal, proposed, run, origin, cwd, began, risk, outcome, by, exit_code FROM commands "
    "WHERE goal IN (SELECT id FROM goals WHERE session = ?) ORDER BY goal, place"
)


def is_own_folder(folder: str) -> bool:
    """Tell whether the logs' folder is ours, and nobody else may put files there."""
    try:
        info = os.stat(folder)
    except (OSError, ValueError):
        return False
    return info.st_uid == os.geteuid() and not stat.S_IMODE(info.st_mode) & 0o022


class Refresher:
    """One pass. `connection`: the memory's; `folder`: of the logs; `heads`: where this machine keeps their heads."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: str,
        heads: str,
        *,
        read: ReadGoal,
        worked: Worked,
        forgotten: Forgotten,
        stop: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._heads = heads
        self._read = read
        self._worked = worked
        self._forgotten = forgotten
        self._stop = stop

    def take_in(self, index: Database) -> bool:
        """Take in what the index knows; whether that was all of it, and the index knew all of the logs. Raises sqlite3.Error."""
        connection = self._connection
        self._start_anew_where_more_was_forgotten()
        known = dict(connection.execute("SELECT path, stamp FROM sessions"))
        found: dict[str, tuple[int, str, list[str]]] = {}
        for number, path, session, *file in index.connection.execute(_SESSIONS):
            found.setdefault(path, (number, session, []))[2].append(":".join(map(str, file)))
        stamps = {
            path: blake2b("\n".join(files).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
            for path, (_, _, files) in found.items()
        }
        # the newest first: they matter most
        changed = [path for path in reversed(found) if known.get(path) != stamps[path]]
        gone = known.keys() - found.keys()
        while changed or gone:
            if self._stop():
                return False
            ends = time.monotonic() + PIECE_SECONDS
            with transaction(connection):
                for path in gone:
                    self._forget_session(path)
                gone = set()
                while changed and time.monotonic() < ends:
                    path = changed.pop(0)
                    self._session(index.connection, path, found[path][0], found[path][1])
                    connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (path, stamps[path]))
        return index.whole

    def _start_anew_where_more_was_forgotten(self) -> None:
        """Another process, or a person, changed the list of what was forgotten: it may cover what is here."""
        connection, stamp = self._connection, self._forgotten.stamp
        row = connection.execute("SELECT value FROM meta WHERE key = 'forgotten'").fetchone()
        if row is not None and row[0] == stamp and not self._forgotten.unreadable:
            return
        with transaction(connection):
            if row is not None or self._forgotten.unreadable:
                for table in _TABLES:
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608
            note_forgotten(connection, stamp)

    def _session(self, index: sqlite3.Connection, path: str, number: int, session: str) -> None:
        """Compare what is known of a session's goals with what there is now."""
        connection = self._connection
        known = dict(connection.execute("SELECT id, mark FROM goals WHERE session = ?", (path,)))
        if self._was_written_here(path, session):
            for row, goal in self._goals(index, number):
                mark = blake2b(repr(goal).encode("utf-8", "surrogatepass"), digest_size=12).digest()
                if known.pop(row, None) == mark:
                    continue
                self._forget_goal(row)
                connection.execute("INSERT INTO goals VALUES (?, ?, ?)", (row, path, mark))
                self._goal(row, goal)
        for row in known:
            self._forget_goal(row)

    def _goals(self, index: sqlite3.Connection, number: int) -> Iterator[tuple[int, PastGoal]]:
        commands: dict[int, list[RanCommand]] = {}
        for goal, *fields in index.execute(_COMMANDS, (number,)):
            commands.setdefault(goal, []).append(RanCommand(*fields))
        for row, text, origin, status, planner in index.execute(_GOALS, (number,)):
            if row in commands:
                yield row, PastGoal(text, origin, status, planner, tuple(commands[row]))

    def _goal(self, row: int, goal: PastGoal) -> None:
        connection = self._connection
        uses = uses_of(goal, self._worked)
        words = self._read(goal.text) if uses else GoalWords(key="")
        forgotten = {use for use in uses if self._forgotten.covers(words.key, use.command, use.at)}
        lesson_is_forgotten = any(use.kind == "taught" for use in forgotten)
        for use in uses if words.key else ():
            if use in forgotten or (use.kind == "refused" and lesson_is_forgotten):
                continue
            entry = self._entry(words, goal.text, use.command)
            planner = "" if use.chosen else goal.planner
            told = (row, entry, use.at, use.cwd, use.kind, use.edited, use.level, planner)
            connection.execute("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?)", told)
        for run in runs_of(goal.commands, self._worked):
            shape = shape_of(run.command)
            if shape and not self._forgotten.covers(words.key, run.command, run.at):
                counted = (row, shape_key(shape), run.at, run.cwd, run.worked)
                connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", counted)

    def _entry(self, words: GoalWords, goal: str, command: str) -> int:
        """The row of this command for such a goal with these literals, made where there is none."""
        connection = self._connection
        slots = msgspec.json.encode(words.slots).decode()
        ident = blake2b(f"{words.key}\0{slots}\0{command}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        row = connection.execute("SELECT id FROM entries WHERE ident = ?", (ident,)).fetchone()
        if row is not None:
            return int(row[0])
        cursor = connection.execute(
            "INSERT INTO entries (ident, key, goal, slots, command, terms) VALUES (?, ?, ?, ?, ?, ?)",
            (ident, words.key, goal, slots, command, " ".join(words.terms)),
        )
        assert cursor.lastrowid is not None
        terms = [(term, cursor.lastrowid) for term in words.terms]
        connection.executemany("INSERT OR IGNORE INTO terms VALUES (?, ?)", terms)
        return cursor.lastrowid

    def _was_written_here(self, path: str, session: str) -> bool:
        full = os.path.join(self._folder, path)
        try:
            if os.lstat(full).st_uid != os.geteuid():
                return False
            head = find_head(self._heads, session, name_of(full))
        except (OSError, ValueError):
            return False
        return head is not None and head.folder in ("", folder_name(self._folder))

    def _forget_session(self, path: str) -> None:
        for (row,) in self._connection.execute("SELECT id FROM goals WHERE session = ?", (path,)).fetchall():
            self._forget_goal(row)
        self._connection.execute("DELETE FROM sessions WHERE path = ?", (path,))

    def _forget_goal(self, row: int) -> None:
        connection = self._connection
        entries = [entry for (entry,) in connection.execute("SELECT entry FROM uses WHERE goal = ?", (row,))]
        connection.execute("DELETE FROM uses WHERE goal = ?", (row,))
        connection.execute("DELETE FROM runs WHERE goal = ?", (row,))
        connection.execute("DELETE FROM goals WHERE id = ?", (row,))
        drop_unused(connection, entries)


def shape_key(shape: str) -> bytes:
    """Return what stands for a shape."""
    return blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=10).digest()


def note_forgotten(connection: sqlite3.Connection, stamp: str) -> None:
    """The list of what was forgotten is taken in as it was then."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('forgotten', ?)", (stamp,))


def drop_unused(connection: sqlite3.Connection, entries: list[int]) -> None:
    """Remove those of the entries that nothing speaks of any more."""
    for entry in set(entries):
        if connection.execute("SELECT 1 FROM uses WHERE entry = ? LIMIT 1", (entry,)).fetchone() is None:
            (terms,) = connection.execute("SELECT terms FROM entries WHERE id = ?", (entry,)).fetchone() or ("",)
            gone = [(term, entry) for term in terms.split(" ")]
            connection.executemany("DELETE FROM terms WHERE term = ? AND entry = ?", gone)
            connection.execute("DELETE FROM entries WHERE id = ?", (entry,))
