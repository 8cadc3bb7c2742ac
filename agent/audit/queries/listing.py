"""List sessions in the order in which they were last written and goals in the order of time, newest first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from agent.audit.queries.conditions import Clause, Conditions, about_goals, below, statuses_asked
from agent.recording.disk import without_links
from agent.recording.index.changes import Live
from agent.recording.index.database import Database
from agent.recording.index.gather import Gatherer
from agent.recording.index.rows import beginning_of, day_of
from agent.recording.index.values import LEVELS, Session
from agent.recording.line import Line, as_written, microseconds, read_line
from agent.recording.reader import SessionFile

_SESSION = (
    "session", "date", "began", "ended", "cwd", "frontend", "name", "goal", "goals", "failed", "stopped", "edited", "commands",
    "status", "risk", "duration", "cost", "tokens", "finished", "bad_lines", "bytes", "written", "path",
)  # fmt: skip
_GOAL = (
    "goal_id", "seq", "goal", "origin", "cwd", "planner", "model", "private", "status", "exit_code", "risk", "duration", "cost",
    "tokens", "steps", "commands", "edited", "message",
)  # fmt: skip


_HAS_GOALS = "(goals > 0 OR status <> '')"


def sessions(database: Database, folder: str, wanted: Conditions, limit: int = 0) -> list[dict[str, Any]]:
    """One mapping a session, the one that was written last first. Times in microseconds, but `written` in seconds since the epoch;
    `risk` as a word, `path` whole; `limit` 0 for all.

    `status` is that of its last goal, "running" where that is not over. Of conditions on commands none counts. Sessions that are not
    read to their end (`database.left`) are `partial`.
    """
    clause = _about_sessions(wanted)
    if wanted.with_goals:
        clause.add(_HAS_GOALS)
    query = f"SELECT {', '.join(_SESSION)} FROM sessions{clause.text} ORDER BY written DESC, date DESC, session DESC"  # noqa: S608
    found = []
    live = Live(folder)
    for row in database.connection.execute(query, clause.values):
        entry = dict(zip(_SESSION, row, strict=True))
        live.settle(entry, entry["path"])
        entry |= {"risk": LEVELS[entry["risk"] or 0], "finished": bool(entry["finished"])}
        entry["path"] = os.path.join(folder, entry["path"])
        _timed(entry)
        if "open" in statuses_asked(wanted.statuses) and not _has_status(database, entry, wanted):
            continue
        found.append(entry)
        if limit and len(found) == limit:
            break
    if database.left:
        return with_unfinished(found, database.left, wanted, limit, live)
    return found


def named(database: Database, name: str) -> tuple[str, ...]:
    """The ids of the sessions of that name, what was written last first."""
    rows = database.connection.execute("SELECT session FROM sessions WHERE name = ? ORDER BY written DESC", (name,))
    return tuple(dict.fromkeys(session for (session,) in rows))


def without_goals(database: Database, wanted: Conditions) -> int:
    """Count sessions in which nothing was asked for."""
    clause = _about_sessions(wanted)
    clause.add(f"NOT {_HAS_GOALS}")
    (count,) = database.connection.execute(f"SELECT count(*) FROM sessions{clause.text}", clause.values).fetchone()  # noqa: S608
    return int(count)


def _about_sessions(wanted: Conditions) -> Clause:
    clause = Clause()
    if wanted.since:
        clause.add("+ended >= ?", wanted.since)
    if wanted.until:
        clause.add("began < ?", wanted.until)
    _about_any_goal(clause, wanted)
    return clause


def _timed(entry: dict[str, Any]) -> None:
    """Of a log that tells no time, since nothing could be written to it, the time is that of its file."""
    if not entry["goals"] and not entry["frontend"] and entry["began"] == day_of(entry["date"]) == entry["ended"]:
        entry["began"] = entry["ended"] = int(entry["written"] * 1_000_000)


def goals(database: Database, folder: str, wanted: Conditions, limit: int = 0) -> list[dict[str, Any]]:
    """One mapping a goal, newest first, with `session` and `began` (microseconds); `limit` 0 for all."""
    clause = Clause()
    about_goals(clause, wanted)
    columns = ", ".join(f"goals.{name}" for name in _GOAL)
    query = (
        f"SELECT goals.id, sessions.session, sessions.path, {columns} FROM goals "  # noqa: S608
        f"CROSS JOIN sessions ON sessions.id = goals.session{clause.text} ORDER BY goals.id DESC"
    )
    found = []
    live = Live(folder)
    for began, session, path, *row in database.connection.execute(query, clause.values):
        entry = {"session": session, "began": began, **dict(zip(_GOAL, row, strict=True))}
        live.settle(entry, path)
        if wanted.statuses and entry["status"] not in wanted.statuses:
            continue
        entry |= {"risk": LEVELS[entry["risk"] or 0], "private": bool(entry["private"])}
        found.append(entry)
        if limit and len(found) == limit:
            break
    return found


def _about_any_goal(clause: Clause, wanted: Conditions) -> None:
    """A session counts that has one goal with the status, and one in the folder."""
    own = "EXISTS (SELECT 1 FROM goals WHERE goals.session = sessions.id AND "
    if wanted.cwd:
        opened, folders = below("sessions.cwd", wanted.cwd)
        clause.add(f"({opened} OR {own}{below('goals.cwd', wanted.cwd)[0]}))", *folders, *folders)
    if wanted.statuses:
        asked = statuses_asked(wanted.statuses)
        marks = ", ".join("?" * len(asked))
        clause.add(f"(sessions.status IN ({marks}) OR {own}+goals.status IN ({marks})))", *asked, *asked)


def _has_status(database: Database, entry: dict[str, Any], wanted: Conditions) -> bool:
    """For "running" and "interrupted": whether it is so now that the open goal's status is known."""
    if entry["status"] in wanted.statuses:
        return True
    query = (
        "SELECT DISTINCT goals.status FROM goals JOIN sessions ON sessions.id = goals.session WHERE sessions.path = ?"
    )
    rows = database.connection.execute(query, (os.path.basename(entry["path"]),))
    return bool({row[0] for row in rows} & set(wanted.statuses))


END_BYTES = 128 * 1024
"""The part of each end that is looked at: some outputs of a command that still runs, and the last goal before them."""


def outline(session: SessionFile) -> Session | None:
    """A session as its two ends tell it, None where its files cannot be read.

    `status` is that of its last goal, "open" where that goes on or was cut off, "" where the end does not tell.
    """
    try:
        head = list(_lines(session.files[0], from_end=False))
        tail = list(_lines(session.files[-1], from_end=True))
    except (OSError, ValueError):
        return None
    gatherer = Gatherer(Session(session=session.session_id, date=session.date))
    for line in head:
        gatherer.take(line)
        if gatherer.session.goal:
            break
    known = gatherer.session
    known.status, known.finished = _how_it_ended(tail)
    times = (line.time for line in (*head, *tail) if microseconds(line.time) is not None)
    known.latest = max(map(as_written, times), default="")
    return known


def _lines(path: str, *, from_end: bool) -> Iterator[Line]:
    """The whole lines in the first or the last bytes of a file. Raises OSError."""
    with open(path, "rb", opener=without_links) as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - END_BYTES) if from_end else 0
        file.seek(start)
        whole = file.read(END_BYTES).split(b"\n")[:-1]  # what follows the last line's end is not complete
    for line in whole[1:] if start else whole:
        if (read := read_line(line)) is not None:
            yield read


def _how_it_ended(tail: list[Line]) -> tuple[str, bool]:
    """Status of the last goal, and whether the session was ended after it."""
    closed = False
    for line in reversed(tail):
        match line.type:
            case "session.pruned":
                return "pruned", True
            case "session.finished":
                closed = True
            case "goal.finished":
                return line.status[:40], closed
            case "goal.started":
                return ("interrupted" if closed else "open"), closed
    return "", closed


def with_unfinished(
    rows: list[dict[str, Any]], left: list[SessionFile], wanted: Conditions, limit: int, live: Live
) -> list[dict[str, Any]]:
    """`rows` (newest first, as `listing.sessions` makes them) with those of `left` among them; of conditions only times count.

    A partial row has sums over what was read so far; `goals` is None where nothing was. `limit` 0 for all.
    """
    known = {row["path"]: row for row in rows}
    unread = {session.path for session in left}
    waiting = sorted(left, key=lambda session: session.by_writing)
    read = [row for row in reversed(rows) if row["path"] not in unread]
    found: list[dict[str, Any]] = []
    while (waiting or read) and not (limit and len(found) == limit):
        if not waiting or (read and _by_writing(read[-1]) > waiting[-1].by_writing):
            found.append(read.pop())
            continue
        session = waiting.pop()
        row = _row(session, outline(session), known.get(session.path), live)
        if wanted.with_goals and row["goals"] == 0 and not row["status"]:
            continue
        if row["ended"] >= wanted.since and (not wanted.until or row["began"] < wanted.until):
            found.append(row)
    return found


def _by_writing(row: dict[str, Any]) -> tuple[float, str, str]:
    return row["written"], row["date"], row["session"]


def _row(session: SessionFile, ends: Session | None, known: dict[str, Any] | None, live: Live) -> dict[str, Any]:
    row: dict[str, Any] = {
        "session": session.session_id, "date": session.date, "began": 0, "ended": 0, "cwd": "", "frontend": "", "name": "",
        "goal": "", "goals": None, "failed": 0, "stopped": 0, "edited": 0, "commands": 0, "status": "", "risk": "", "duration": 0.0,
        "cost": None, "tokens": 0, "finished": False, "bad_lines": 0, "path": session.path,
    }  # fmt: skip
    row |= known or {}
    if ends is not None:
        began = beginning_of(ends)
        row |= {"began": began, "ended": max(ends.ended, began), "goal": row["goal"] or ends.goal}
        row |= {name: getattr(ends, name) for name in ("cwd", "frontend", "status", "finished")}
        live.settle(row, os.path.basename(session.path))
        if session.size <= END_BYTES and not ends.goal and not ends.status:
            row["goals"] = row["goals"] or 0  # all of it was looked at
    row |= {"bytes": session.size, "written": session.modified, "partial": True}
    _timed(row)
    return row
