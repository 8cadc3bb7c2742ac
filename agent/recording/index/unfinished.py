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
    added: list[dict[str, Any]] = []
    for session in sorted(left, key=lambda session: session.by_writing, reverse=True):
        row = _row(session, outline(session), known.get(session.path), live)
        if row["ended"] >= wanted.since and (not wanted.until or row["began"] < wanted.until):
            added.append(row)
        if limit and len(added) == limit:
            break
    found = [*(row for row in rows if row["path"] not in unread), *added]
    found.sort(key=lambda row: (row["written"], row["date"], row["session"]), reverse=True)
    return found[:limit] if limit else found


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
