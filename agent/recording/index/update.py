"""Bring the index up to date with the logs: only new bytes are read; a log that is not the one it was is read anew.

Work is done in pieces of about a second, each a transaction, so that others get their turn, and what was done is kept.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable

from agent.recording.index.database import Database
from agent.recording.index.gather import Gatherer
from agent.recording.index.line import read_line
from agent.recording.index.logs import FileState, goes_on, new_lines, settle, state_of, unchanged
from agent.recording.index.rows import forget_session, session_row, write_goal, write_session
from agent.recording.index.values import Session
from agent.recording.naming import parse_segment
from agent.recording.reader import SessionFile, list_sessions

PIECE_SECONDS = 1.0
NEWEST_FIRST = 200
"""How many of the newest sessions are read first: who waits, waits for them. The rest goes in the order of time, which costs less."""
_LINES_AT_A_TIME = 2_000

Told = Callable[[int, int], None]


def update(
    database: Database, folder: str, *, told: Told | None = None, stop: Callable[[], bool] | None = None
) -> None:
    """Read what is new in the logs of `folder`. `told(done, of)` is called between pieces with numbers of sessions.

    `stop` ends it between pieces. Raises IoError where the folder cannot be read, sqlite3.Error.
    """
    connection = database.connection
    if _nothing_new(connection, folder):
        return
    sessions = list_sessions(folder)
    stored = _stored(connection)
    gone = stored.keys() - {os.path.basename(session.path) for session in sessions}
    left = [session for session in sessions if _has_changed(session, stored)]
    left = left[-NEWEST_FIRST:] + left[:-NEWEST_FIRST]
    total = len(left)
    while left or gone:
        if stop is not None and stop():
            return
        if told is not None:
            told(total - len(left), total)
        connection.execute("BEGIN IMMEDIATE")
        try:
            left = _piece(connection, left, gone)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        gone = set()


def _nothing_new(connection: sqlite3.Connection, folder: str) -> bool:
    """Whether every log is as it was, by one look at the folder. Any doubt is left to the long way round."""
    known: dict[str, tuple[int, int, int]] = {
        path: (inode, size, modified)
        for path, inode, size, modified in connection.execute("SELECT path, inode, size, modified FROM files")
    }
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.endswith(".jsonl"):
                    continue
                before = known.pop(entry.name, None)
                if before is None and parse_segment(entry.name) is not None:
                    return False
                info = entry.stat(follow_symlinks=False)
                if before is not None and before != (info.st_ino, info.st_size, info.st_mtime_ns):
                    return False
    except OSError:
        return False
    return not known


def _stored(connection: sqlite3.Connection) -> dict[str, list[FileState]]:
    """What is known of each session's files, in order, by the name of its first file."""
    found: dict[str, list[FileState]] = {}
    query = (
        "SELECT sessions.path, files.path, inode, size, modified, read, first, last FROM files "
        "JOIN sessions ON sessions.id = files.session ORDER BY files.session, part"
    )
    for path, *state in connection.execute(query):
        found.setdefault(path, []).append(FileState(*state))
    return found


def _has_changed(session: SessionFile, stored: dict[str, list[FileState]]) -> bool:
    known = stored.get(os.path.basename(session.path))
    paths = session.files
    if known is None or len(known) != len(paths):
        return True
    for path, before in zip(paths, known, strict=True):
        now = state_of(path)
        if now is None or os.path.basename(path) != before.path or not unchanged(now, before):
            return True
    return False


def _piece(connection: sqlite3.Connection, changed: list[SessionFile], gone: Iterable[str]) -> list[SessionFile]:
    """Forget what is gone and read what has changed, for a while; what is left to be read."""
    ends = time.monotonic() + PIECE_SECONDS
    for path in gone:
        found = connection.execute("SELECT id FROM sessions WHERE path = ?", (path,)).fetchone()
        if found:
            forget_session(connection, found[0])
    for place, session in enumerate(changed):
        if not _take_in(connection, session, ends):
            return changed[place:]
        if time.monotonic() > ends:
            return changed[place + 1 :]
    return []


def _take_in(connection: sqlite3.Connection, found: SessionFile, ends: float) -> bool:
    """Read what is new in one session, until it is read or the time is over; whether it is read."""
    name = os.path.basename(found.path)
    number, session = session_row(connection, name)
    states = [state for path in found.files if (state := state_of(path)) is not None]
    before = _known(connection, number)
    if session is None or not _take_up(states, before):
        forget_session(connection, number)
        number, session = session_row(connection, name)
        before = []
    if session is None:
        session = Session(session=found.session_id, date=found.date)
    gatherer = Gatherer(session)
    seen, whole = max(len(before) - 1, 0), True
    while seen < len(states) and whole:
        whole = _read(connection, number, gatherer, states[seen], ends)
        seen += 1
    connection.execute("DELETE FROM files WHERE session = ?", (number,))
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (os.path.basename(s.path), number, part, s.inode, s.size, s.modified, s.read, s.first, s.last)
            for part, s in enumerate(states[:seen])
        ],
    )
    write_session(connection, number, name, sum(state.size for state in states), session)
    return whole


def _known(connection: sqlite3.Connection, number: int) -> list[FileState]:
    query = "SELECT path, inode, size, modified, read, first, last FROM files WHERE session = ? ORDER BY part"
    return [FileState(*row) for row in connection.execute(query, (number,))]


def _take_up(states: list[FileState], before: list[FileState]) -> bool:
    """Whether the files can be read on from where they were left; `states` then say where that is."""
    if len(before) > len(states):
        return False
    for place, (now, then) in enumerate(zip(states, before, strict=False)):
        grown = not unchanged(now, then)
        if grown and place < len(before) - 1:
            return False  # what was read after it stood there too early
        if os.path.basename(now.path) != then.path or (grown and not goes_on(now, then)):
            return False
        now.read, now.first, now.last = then.read, then.first, then.last
    return True


def _read(connection: sqlite3.Connection, number: int, gatherer: Gatherer, state: FileState, ends: float) -> bool:
    """Take in the new lines of one file; whether that was all of them."""
    whole = True
    try:
        for count, line in enumerate(new_lines(state), 1):
            gatherer.take(read_line(line) if line is not None else None)
            if gatherer.done:
                for goal in gatherer.done:
                    write_goal(connection, number, goal)
                gatherer.done.clear()
            if count % _LINES_AT_A_TIME == 0 and time.monotonic() > ends:
                whole = False
                break
        settle(state)
    except OSError:
        return True  # it went away, or cannot be read: there is nothing to be found in it now
    if not whole:
        state.size, state.modified = state.read, 0  # as if it had grown since
    return whole
