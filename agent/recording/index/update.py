"""Bring the index up to date with the logs: only new bytes are read; a log that is not the one it was is read anew.

Work is done in pieces of about a second, each a transaction, so that others get their turn, and what was done is kept: who is
interrupted, or has waited for long enough, goes on from there the next time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable

from msgspec import Struct

from agent.recording.index.changes import (
    FileState,
    goes_on,
    has_changed,
    new_lines,
    nothing_new,
    opened,
    settle,
    state_of,
    stored_files,
    unchanged,
    unread_bytes,
)
from agent.recording.index.database import Database
from agent.recording.index.gather import Gatherer
from agent.recording.index.rows import forget_session, session_row, write_goal, write_session
from agent.recording.index.values import Session
from agent.recording.line import read_line
from agent.recording.private_database import transaction
from agent.recording.reader import SessionFile, list_sessions

PIECE_SECONDS = 1.0
NEWEST_FIRST = 200
"""The number of newest sessions that are read first: who waits, waits for them. The rest goes in the order of time, which costs less."""
_LONG = 8 * 1024 * 1024  # bytes of a session that are worth their own second
_LINES_AT_A_TIME = 500
_BYTES_AT_A_TIME = 4 * 1024 * 1024

Told = Callable[[int, int], None]


class _Piece(Struct):
    """One piece of work: until when (monotonic), and how many bytes of logs were read in it."""

    connection: sqlite3.Connection
    ends: float
    bytes: int = 0


def update(
    database: Database,
    folder: str,
    *,
    told: Told | None = None,
    stop: Callable[[], bool] | None = None,
    seconds: float | None = None,
) -> bool:
    """Read what is new in the logs of `folder`; whether that was all. `told(done, of)` is called between pieces with numbers of bytes.

    `stop` ends it between pieces, and so do `seconds` of time, after at least one piece. Raises IoError where the folder cannot be
    read, sqlite3.Error.
    """
    connection = database.connection
    if nothing_new(connection, folder):
        return True
    sessions = list_sessions(folder)
    stored = stored_files(connection)
    indexed = {path for (path,) in connection.execute("SELECT path FROM sessions")}
    gone = indexed - {os.path.basename(session.path) for session in sessions}
    left = [session for session in sessions if has_changed(session, stored)]
    left = _in_turn(left, stored)
    total, done = sum(unread_bytes(session, stored) for session in left), 0
    ends = None if seconds is None else time.monotonic() + seconds
    first = True
    while left or gone:
        now = time.monotonic()
        if (stop is not None and stop()) or (ends is not None and now >= ends and not first):
            return False
        first = False
        if told is not None:
            told(min(done, total), total)
        piece = _Piece(connection, now + PIECE_SECONDS if ends is None else min(now + PIECE_SECONDS, ends))
        with transaction(connection):
            left = _work(piece, left, gone)
        gone = set()
        done += piece.bytes
    return True


def _in_turn(sessions: list[SessionFile], stored: dict[str, list[FileState]]) -> list[SessionFile]:
    """As they are to be read: those first that a listing shows first; of them those last that would keep the others waiting."""
    newest = sorted(sessions, key=lambda session: session.by_writing, reverse=True)[:NEWEST_FIRST]
    newest.sort(key=lambda session: unread_bytes(session, stored) > _LONG)
    first = {session.path for session in newest}
    return [*newest, *(session for session in sessions if session.path not in first)]


def _work(piece: _Piece, changed: list[SessionFile], gone: Iterable[str]) -> list[SessionFile]:
    """Forget what is gone and read what has changed, for a while; what is left to be read."""
    for path in gone:
        found = piece.connection.execute("SELECT id FROM sessions WHERE path = ?", (path,)).fetchone()
        if found:
            forget_session(piece.connection, found[0])
    for place, session in enumerate(changed):
        if not _take_in(piece, session):
            return changed[place:]
        if time.monotonic() > piece.ends:
            return changed[place + 1 :]
    return []


def _take_in(piece: _Piece, found: SessionFile) -> bool:
    """Read what is new in one session, until it is read or the time is over; whether it is read."""
    connection, name = piece.connection, os.path.basename(found.path)
    number, session, is_new = session_row(connection, name)
    states = [state for path in found.files if (state := state_of(path)) is not None]
    if not states:  # gone since it was listed: a row without files would stay for good
        forget_session(connection, number)
        return True
    written = max((state.written for state in states), default=0.0)
    before = [] if is_new else _known(connection, number)
    if not is_new and (session is None or not _take_up(states, before)):
        forget_session(connection, number)
        number, session, is_new = session_row(connection, name)
        before = []
    if session is None:
        session = Session(session=found.session_id, date=found.date)
    gatherer = Gatherer(session)
    seen, whole = max(len(before) - 1, 0), True
    while seen < len(states) and whole:
        whole = _read(piece, number, gatherer, states[seen])
        seen += 1
    if not is_new:
        connection.execute("DELETE FROM files WHERE session = ?", (number,))
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (os.path.basename(s.path), number, part, s.inode, s.size, s.modified, s.read, s.first, s.last)
            for part, s in enumerate(states[:seen])
        ],
    )
    size = sum(state.size for state in states)
    write_session(connection, number, name, session, size=size, written=written)
    return whole


def _known(connection: sqlite3.Connection, number: int) -> list[FileState]:
    query = "SELECT path, inode, size, modified, read, first, last FROM files WHERE session = ? ORDER BY part"
    return [FileState(*row) for row in connection.execute(query, (number,))]


def _take_up(states: list[FileState], before: list[FileState]) -> bool:
    """Tell whether the files can be read on from where they were left; `states` then say where that is."""
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


def _read(piece: _Piece, number: int, gatherer: Gatherer, state: FileState) -> bool:
    """Take in the new lines of one file; whether that was all of them."""
    begun, looked, whole = state.read, state.read, True
    try:
        with opened(state) as file:
            for count, line in enumerate(new_lines(file, state), 1):
                gatherer.take(read_line(line) if line is not None else None)
                if gatherer.done:
                    for goal in gatherer.done:
                        write_goal(piece.connection, number, goal)
                    gatherer.done.clear()
                if count % _LINES_AT_A_TIME == 0 or state.read - looked > _BYTES_AT_A_TIME:
                    looked = state.read
                    if time.monotonic() > piece.ends:
                        whole = False
                        break
            settle(file, state)
    except OSError:
        return True  # it went away, or cannot be read: there is nothing to be found in it now
    finally:
        piece.bytes += state.read - begun
    if not whole:
        state.size, state.modified = state.read, 0  # as if it had grown since
    return whole
