"""Rows of a listing for sessions that the index has not read to their end: from their two ends, marked as `partial`."""

from __future__ import annotations

import os
from typing import Any

from agent.recording.index.asking import Conditions
from agent.recording.index.live import Live
from agent.recording.index.outline import Outline, outline
from agent.recording.reader import SessionFile


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
        if row["ended"] >= wanted.since and (not wanted.until or row["began"] < wanted.until):
            found.append(row)
    return found


def _by_writing(row: dict[str, Any]) -> tuple[float, str, str]:
    return row["written"], row["date"], row["session"]


def _row(session: SessionFile, ends: Outline | None, known: dict[str, Any] | None, live: Live) -> dict[str, Any]:
    row: dict[str, Any] = {
        "session": session.session_id, "date": session.date, "began": 0, "ended": 0, "cwd": "", "frontend": "", "name": "",
        "goal": "", "goals": None, "failed": 0, "edited": 0, "commands": 0, "status": "", "risk": "", "duration": 0.0,
        "cost": None, "tokens": 0, "finished": False, "bad_lines": 0, "path": session.path,
    }  # fmt: skip
    row |= known or {}
    if ends is not None:
        row |= {"began": ends.began, "ended": ends.ended, "status": ends.status, "finished": ends.closed}
        row |= {"cwd": ends.cwd, "frontend": ends.frontend, "goal": row["goal"] or ends.goal}
        live.settle(row, os.path.basename(session.path))
    return row | {"bytes": session.size, "written": session.modified, "partial": True}
