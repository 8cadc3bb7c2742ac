"""List sessions in the order in which they were last written and goals in the order of time, newest first."""

from __future__ import annotations

import os
from typing import Any

from agent.audit.queries.conditions import Clause, Conditions, about_goals, below, statuses_asked
from agent.recording.index.changes import Live
from agent.recording.index.database import Database
from agent.recording.index.rows import day_of
from agent.recording.index.values import LEVELS

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

    `status` is that of its last goal, "running" where that is not over. Of conditions on commands none counts.
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
