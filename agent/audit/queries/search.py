"""Search goals, messages, commands and outputs. A hit is a goal; it says which command and which line."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from msgspec import Struct, structs

from agent.audit.queries.conditions import Clause, Conditions, about_commands, about_goals, like, match_of
from agent.audit.queries.finder import Field, Finder
from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import is_looked_up
from agent.recording.index.changes import Live
from agent.recording.index.database import Database
from agent.recording.index.rows import SEPARATOR
from agent.recording.index.values import LEVELS

MOST_WORDS = 50


class HitCommand(Struct, frozen=True, kw_only=True):
    """One command of a goal that meets the conditions. `matched`: what was searched for is in it or in its output."""

    command_id: str
    proposed: str
    run: str
    origin: str
    cwd: str
    risk: str
    outcome: str
    by: str
    exit_code: int | None
    edited: bool
    matched: bool


class Hit(Struct, frozen=True, kw_only=True):
    """One goal. `match` is the line that was found, from `field`; `spans` are the places in it. `at`: microseconds since the epoch.

    `seq`: the record with which it began; `number`: which goal of its session it is, from 1 (0: not asked for).
    """

    session: str
    path: str
    at: int
    goal_id: str
    goal: str
    status: str
    risk: str
    cwd: str
    duration: float
    field: Field
    match: str
    spans: tuple[tuple[int, int], ...]
    commands: tuple[HitCommand, ...]
    seq: int = 0
    number: int = 0


class Found(Struct):
    """The hits, newest first, and how the search ended. `more`: the limit was reached; `late`: the time was over."""

    hits: list[Hit] = []
    more: bool = False
    late: bool = False


def search(
    database: Database,
    folder: str,
    words: tuple[str, ...],
    wanted: Conditions,
    *,
    pattern: LinearPattern | None = None,
    limit: int = 0,
    seconds: float = 10.0,
    numbered: bool = False,
) -> Found:
    """Goals in which all `words` are found (each as the beginning of a word, whatever its case) and `pattern` in one line.

    `seconds` bounds the whole search, `limit` (0: none) the hits.
    """
    found = Found(hits=[])
    ends = time.monotonic() + seconds
    live = Live(folder)
    finder = Finder(words[:MOST_WORDS], pattern)
    for candidate in _candidates(database, words[:MOST_WORDS], wanted):
        if time.monotonic() > ends:
            found.late = True
            break
        hit = _hit(candidate, finder, wanted)
        if hit is None:
            continue
        entry = {"status": hit.status}
        live.settle(entry, hit.path)
        if wanted.statuses and entry["status"] not in wanted.statuses:
            continue
        if limit and len(found.hits) == limit:
            found.more = True
            break
        number = _number(database, hit.at) if numbered else 0
        path = os.path.join(folder, hit.path)
        found.hits.append(structs.replace(hit, status=entry["status"], path=path, number=number))
    return found


def _number(database: Database, row: int) -> int:
    """Number a goal within its session."""
    query = (
        "SELECT count(*) FROM goals AS others JOIN goals ON others.session = goals.session AND others.seq <= goals.seq "
        "WHERE goals.id = ?"
    )
    return int(database.connection.execute(query, (row,)).fetchone()[0])


_CANDIDATE = {
    "at": "goals.id", "session": "sessions.session", "path": "sessions.path", "goal_id": "goal_id", "status": "goals.status",
    "risk": "goals.risk", "cwd": "goals.cwd", "duration": "goals.duration", "goal": "texts.goal", "seq": "goals.seq",
    "message": "texts.message", "command": "texts.command", "output": "texts.output",
}  # fmt: skip
_Candidate = tuple[dict[str, Any], list[tuple[Any, ...]]]
"""A goal as far as it is known, and the rows of its commands."""


def _candidates(database: Database, words: tuple[str, ...], wanted: Conditions) -> Iterator[_Candidate]:
    """Goals that may be hits, newest first."""
    clause = Clause()
    looked_up = tuple(word for word in words if database.full_text and is_looked_up(word))
    if looked_up:
        clause.add("texts MATCH ?", match_of(looked_up))
        if wanted.since:
            clause.add("texts.rowid >= ?", wanted.since)
        if wanted.until:
            clause.add("texts.rowid < ?", wanted.until)
    for word in words:
        if word not in looked_up:
            pattern = like(word)
            columns = ("texts.goal", "texts.message", "texts.command", "texts.output")
            clause.add(
                f"({' OR '.join(f'{name} LIKE ? ESCAPE ?' for name in columns)})", *[pattern, "~"] * len(columns)
            )
    about_goals(clause, wanted)
    of_command, values = about_commands(wanted)
    if of_command:
        clause.add(f"goals.id IN (SELECT goal FROM commands WHERE {of_command})", *values)  # noqa: S608
    tables = (
        "texts CROSS JOIN goals ON goals.id = texts.rowid"
        if looked_up
        else "goals CROSS JOIN texts ON texts.rowid = goals.id"
    )
    query = (
        f"SELECT {', '.join(_CANDIDATE.values())} FROM {tables} "  # noqa: S608
        f"CROSS JOIN sessions ON sessions.id = goals.session{clause.text} "
        f"ORDER BY {'texts.rowid' if looked_up else 'goals.id'} DESC"
    )
    of_goal = (
        "SELECT command_id, proposed, run, origin, cwd, risk, outcome, by, exit_code, edited, "  # noqa: S608
        f"{of_command or '1'} FROM commands WHERE goal = ? ORDER BY place"
    )
    for row in database.connection.execute(query, clause.values):
        goal = dict(zip(_CANDIDATE, row, strict=True))
        yield goal, list(database.connection.execute(of_goal, (*values, goal["at"])))


def _hit(candidate: _Candidate, finder: Finder, wanted: Conditions) -> Hit | None:
    """The candidate as a hit, if what is searched for is where the conditions allow it."""
    goal, rows = candidate
    message, texts, outputs = goal.pop("message"), goal.pop("command"), goal.pop("output")
    commands: list[tuple[tuple[Any, ...], list[tuple[Field, str]]]] = []
    for row, text, output in zip_longest(rows, texts.split(SEPARATOR), outputs.split(SEPARATOR)):
        if row and row[-1]:
            commands.append((row, [("command", text or ""), ("output", output or "")]))
    scope: list[tuple[Field, str]] = [("goal", goal["goal"])]
    scope += [own[of] for of in (0, 1) for _, own in commands]
    scope.append(("message", message))
    best = finder.find(scope, strict=wanted.of_commands)
    if best is None:
        return None
    told = tuple(_command(row, matched=finder.touches(own)) for row, own in commands)
    goal["risk"] = LEVELS[goal["risk"] or 0]
    return Hit(**goal, field=best.field, match=best.line, spans=best.spans, commands=told)


def _command(row: tuple[Any, ...], *, matched: bool) -> HitCommand:
    found = dict(zip(HitCommand.__struct_fields__, row, strict=False))
    return HitCommand(
        **found | {"risk": LEVELS[found["risk"] or 0], "edited": bool(found["edited"]), "matched": matched}
    )
