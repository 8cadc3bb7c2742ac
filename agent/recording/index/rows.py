"""Write sessions, goals and commands as rows of the index's tables. Another table needs another VERSION: every index is made anew then."""

from __future__ import annotations

import calendar
import sqlite3
import time

import msgspec

from agent.recording.index.values import OUTPUTS_KEPT, Goal, Session
from agent.struct_types import built

VERSION = 4
APPLICATION = 0x41534958  # "ASIX"

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    "files": (
        "CREATE TABLE files (path TEXT PRIMARY KEY, session INTEGER, part INTEGER, inode INTEGER, size INTEGER, "
        "modified INTEGER, read INTEGER, first TEXT, last TEXT)"
    ),
    "files_by_session": "CREATE INDEX files_by_session ON files (session, part)",
    "sessions": (
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, path TEXT UNIQUE, session TEXT, date TEXT, began INTEGER, "
        "ended INTEGER, cwd TEXT, frontend TEXT, name TEXT, goal TEXT, goals INTEGER, failed INTEGER, stopped INTEGER, edited INTEGER, "
        "commands INTEGER, status TEXT, risk INTEGER, duration REAL, cost REAL, tokens INTEGER, finished INTEGER, "
        "bad_lines INTEGER, bytes INTEGER, written REAL, state BLOB)"
    ),
    # written: seconds since the epoch when one of its files was last written, as a look at the folder tells it
    "sessions_by_writing": "CREATE INDEX sessions_by_writing ON sessions (written, date, session)",
    # id: microseconds since the epoch when it began (one more where that is taken), so that rows lie in the order of time
    "goals": (
        "CREATE TABLE goals (id INTEGER PRIMARY KEY, session INTEGER, goal_id TEXT, seq INTEGER, goal TEXT, origin TEXT, "
        "cwd TEXT, planner TEXT, model TEXT, private INTEGER, status TEXT, exit_code INTEGER, risk INTEGER, duration REAL, "
        "cost REAL, tokens INTEGER, steps INTEGER, commands INTEGER, edited INTEGER, message TEXT)"
    ),
    "goals_by_session": "CREATE INDEX goals_by_session ON goals (session, cwd, status)",
    "goals_by_status": "CREATE INDEX goals_by_status ON goals (status)",
    "commands": (
        "CREATE TABLE commands (goal INTEGER, place INTEGER, command_id TEXT, proposed TEXT, run TEXT, origin TEXT, "
        "cwd TEXT, began INTEGER, risk INTEGER, outcome TEXT, by TEXT, exit_code INTEGER, edited INTEGER, duration REAL, "
        "PRIMARY KEY (goal, place)) WITHOUT ROWID"
    ),
    "commands_by_exit": "CREATE INDEX commands_by_exit ON commands (exit_code)",
    "commands_by_who": "CREATE INDEX commands_by_who ON commands (by)",
}
"""Name -> statement, as SQLite keeps it."""

FULL_TEXT = "CREATE VIRTUAL TABLE texts USING fts5(goal, message, command, output, tokenize = 'unicode61')"
PLAIN_TEXT = "CREATE TABLE texts (rowid INTEGER PRIMARY KEY, goal TEXT, message TEXT, command TEXT, output TEXT)"
"""One row a goal, the same number as in `goals`. The parts of several commands are joined by SEPARATOR."""

SEPARATOR = "\x1e"


_GOAL = f"INSERT INTO goals VALUES ({', '.join('?' * 20)})"  # noqa: S608
_COMMAND = f"INSERT INTO commands VALUES ({', '.join('?' * 14)})"  # noqa: S608
_SESSION = f"INSERT OR REPLACE INTO sessions VALUES ({', '.join('?' * 25)})"  # noqa: S608
_TEXT = "INSERT INTO texts (rowid, goal, message, command, output) VALUES (?, ?, ?, ?, ?)"

_taken = [0, 0, 0]  # connection, and the rows from and to which it was full; only where a search begins


def write_goal(connection: sqlite3.Connection, session: int, goal: Goal) -> None:
    """One goal with its commands and texts; what stood there of it before is replaced. It gets its `row`."""
    if goal.row:
        _remove_goal(connection, goal.row)
    else:
        goal.row = _free_row(connection, goal.at)
    row = goal.row
    connection.execute(
        _GOAL,
        (
            row, session, goal.goal_id, goal.seq, goal.goal, goal.origin, goal.cwd, goal.planner, goal.model, goal.private,
            goal.status, goal.exit_code, goal.risk, goal.duration, goal.cost, goal.tokens_in + goal.tokens_out, goal.steps,
            len(goal.commands) + goal.more, goal.edited, goal.message,
        ),
    )  # fmt: skip
    if goal.commands:
        connection.executemany(
            _COMMAND,
            [
                (
                    row, place, command.command_id, command.proposed, command.ran, command.origin, command.cwd, command.at,
                    command.risk, command.outcome, command.by, command.exit_code, command.changed, command.duration,
                )
                for place, command in enumerate(goal.commands)
            ],
        )  # fmt: skip
    connection.execute(_TEXT, (row, goal.goal, _said(goal), *_command_texts(goal)))


def _said(goal: Goal) -> str:
    messages = goal.messages.rstrip("\n")
    return messages if goal.message in messages else f"{messages}\n{goal.message}".strip("\n")


def _command_texts(goal: Goal) -> tuple[str, str]:
    """Return what was proposed and run, and what came out; each command's part has its place, so that a hit can be told whose it is."""
    texts, outputs = [], []
    room = OUTPUTS_KEPT
    for command in goal.commands:
        texts.append(f"{command.proposed}\n{command.ran}" if command.changed else command.proposed)
        output = command.output[: max(room, 0)]
        room -= len(output)
        outputs.append(output)
    return SEPARATOR.join(texts), SEPARATOR.join(outputs)


def _free_row(connection: sqlite3.Connection, at: int) -> int:
    """A row from `at` on. Goals that claim one and the same time would each be looked past, so where the last one went is kept:
    of this connection, or of one before it that had the same id, which did not fill this database.
    """
    row = first = max(at, 1)
    if _taken[0] == id(connection) and _taken[1] <= row <= _taken[2] and _is_taken(connection, _taken[2]):
        first, row = _taken[1], _taken[2] + 1
    while _is_taken(connection, row):
        row += 1
    _taken[:] = (id(connection), first, row)
    return row


def _is_taken(connection: sqlite3.Connection, row: int) -> bool:
    return connection.execute("SELECT 1 FROM goals WHERE id = ?", (row,)).fetchone() is not None


def _remove_goal(connection: sqlite3.Connection, row: int) -> None:
    connection.execute("DELETE FROM texts WHERE rowid = ?", (row,))
    connection.execute("DELETE FROM commands WHERE goal = ?", (row,))
    connection.execute("DELETE FROM goals WHERE id = ?", (row,))


def session_row(connection: sqlite3.Connection, path: str) -> tuple[int, Session | None, bool]:
    """The number of the session whose first file is `path`, its state as it was stored, and whether the row was made just now."""
    found = connection.execute("SELECT id, state FROM sessions WHERE path = ?", (path,)).fetchone()
    if found is None:
        cursor = connection.execute("INSERT INTO sessions (path) VALUES (?)", (path,))
        assert cursor.lastrowid is not None
        return cursor.lastrowid, None, True
    try:
        return found[0], msgspec.msgpack.decode(found[1], type=built(Session)) if found[1] else None, False
    except msgspec.MsgspecError:
        return found[0], None, False


def write_session(
    connection: sqlite3.Connection, number: int, path: str, session: Session, *, size: int = 0, written: float = 0.0
) -> None:
    """The session with all it is so far, its open goal included. `size`: bytes of all its files; `written`: seconds since the epoch."""
    goal = session.open
    if goal is not None:
        write_goal(connection, number, goal)
    began = beginning_of(session)
    cost = session.cost
    if goal is not None and goal.cost is not None:
        cost = (cost or 0.0) + goal.cost
    connection.execute(
        _SESSION,
        (
            number, path, session.session, session.date, began, max(session.ended, began), session.cwd, session.frontend,
            session.name, session.goal, session.goals, session.failed, session.stopped, session.edited + (goal.edited if goal else 0),
            session.commands + (len(goal.commands) + goal.more if goal else 0), "open" if goal else session.status,
            max(session.risk, goal.risk if goal else 0), session.duration, cost, session.tokens, session.finished,
            session.bad_lines, size, written, msgspec.msgpack.encode(session),
        ),
    )  # fmt: skip


def forget_session(connection: sqlite3.Connection, number: int) -> None:
    """Remove all that the index has of a session."""
    for table, column in (("texts", "rowid"), ("commands", "goal")):
        connection.execute(
            f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM goals WHERE session = ?)",  # noqa: S608
            (number,),
        )
    connection.execute("DELETE FROM goals WHERE session = ?", (number,))
    connection.execute("DELETE FROM files WHERE session = ?", (number,))
    connection.execute("DELETE FROM sessions WHERE id = ?", (number,))


def beginning_of(session: Session) -> int:
    """Return when a session began, in microseconds: where no line tells, with the day in its name."""
    return session.began or day_of(session.date)


def day_of(date: str) -> int:
    """The beginning of a day, in microseconds, 0 where that is none."""
    try:
        return calendar.timegm(time.strptime(date, "%Y-%m-%d")) * 1_000_000
    except (ValueError, OverflowError):
        return 0
