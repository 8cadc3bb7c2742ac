"""Outline a session from its two ends, where the index has not come to the end of it yet: when it began, its first goal, how it went last.

A log of gigabytes is known from its first and its last kilobytes well enough for a row in a listing, but for its sums.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from agent.recording.disk import without_links
from agent.recording.index.asking import Conditions
from agent.recording.index.changes import Live
from agent.recording.index.gather import Gatherer
from agent.recording.index.rows import beginning_of
from agent.recording.index.values import GOAL_KEPT, Session
from agent.recording.line import Line, microseconds, read_line
from agent.recording.reader import SessionFile

END_BYTES = 128 * 1024
"""How much of each end is looked at: some outputs of a command that still runs, and the last goal before them."""


class Outline(Struct, frozen=True, kw_only=True):
    """As much of a session. Times in microseconds since the epoch.

    `status` is that of its last goal, "open" where that goes on or was cut off, "" where the end does not tell. `closed`: the session
    was ended.
    """

    began: int
    ended: int
    cwd: str
    frontend: str
    goal: str
    status: str
    closed: bool


def outline(session: SessionFile) -> Outline | None:
    """The outline of a session, None where its files cannot be read."""
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
    status, closed = _how_it_ended(tail)
    latest = max((at for line in (*head, *tail) if (at := microseconds(line.time)) is not None), default=0)
    began = beginning_of(known)
    return Outline(
        began=began,
        ended=max(latest, began),
        cwd=known.cwd[:GOAL_KEPT],
        frontend=known.frontend,
        goal=known.goal,
        status=status,
        closed=closed,
    )


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
