"""Count over many goals (a day, a planner, a program), and list what was asked and run before."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from agent.audit.queries.conditions import Clause, Conditions, about_goals
from agent.recording.index.database import Database
from agent.recording.index.values import FAILURES

MOST = 8_000


class Entry(Struct, frozen=True, kw_only=True):
    """One text with its latest use: `at` in microseconds since the epoch, `cwd`, how it ended. `is_command`: it was run, not asked.

    `outcome`: of a command its exit code ("exit 2", "" where that is not known), of a goal its status.
    """

    text: str
    is_command: bool
    at: int
    times: int
    cwd: str
    outcome: str


def past(database: Database) -> list[Entry]:
    """The latest uses, newest first, up to MOST goals and as many commands."""
    goals = (
        "SELECT goal, max(id), count(*), cwd, status FROM goals WHERE private = 0 AND origin <> 'shell' AND goal <> '' "
        "GROUP BY goal ORDER BY 2 DESC LIMIT ?"
    )
    commands = (
        "SELECT run, max(began), count(*), commands.cwd, commands.exit_code FROM commands CROSS JOIN goals "
        "ON goals.id = commands.goal WHERE run <> '' AND private = 0 GROUP BY run ORDER BY 2 DESC LIMIT ?"
    )
    found = [
        Entry(text=text, is_command=False, at=at, times=times, cwd=cwd, outcome=status)
        for text, at, times, cwd, status in database.connection.execute(goals, (MOST,))
    ]
    found += [
        Entry(text=text, is_command=True, at=at, times=times, cwd=cwd, outcome="" if code is None else f"exit {code}")
        for text, at, times, cwd, code in database.connection.execute(commands, (MOST,))
    ]
    return sorted(found, key=lambda entry: -entry.at)


_FAILED = f"goals.status IN ({', '.join(repr(status) for status in sorted(FAILURES))})"
_SUMS = (
    f"count(*), sum({_FAILED}), sum(goals.status = 'completed'), sum(goals.status = 'answered'), "
    "sum(goals.status = 'not_understood'), sum(goals.duration), "
    "sum(goals.cost), sum(goals.tokens), sum(goals.commands), sum(goals.edited), sum(goals.risk = 3)"
)
_PLANNER = "CASE goals.origin WHEN 'shell' THEN '' ELSE trim(goals.planner || ' ' || goals.model) END"
_NAMES = "goals failed done answered not_understood seconds cost tokens commands edited high".split()


def figures(database: Database, wanted: Conditions) -> dict[str, Any]:
    """`total`, `days` (by local date), `planners`, `statuses`, `risks`, `commands` (by program), `decisions`.

    A person's own commands have the planner "".
    """
    return {
        "total": _total(database, wanted),
        "days": _grouped(database, wanted, "date(goals.id / 1000000, 'unixepoch', 'localtime')", "day", "1"),
        "planners": _grouped(database, wanted, _PLANNER, "planner", "2 DESC"),
        "statuses": _counts(database, wanted, "goals.status"),
        "risks": _counts(database, wanted, "goals.risk"),
        "commands": _programs(database, wanted),
        "decisions": _decisions(database, wanted),
    }  # fmt: skip


def _where(wanted: Conditions) -> Clause:
    clause = Clause()
    about_goals(clause, wanted)
    return clause


def _total(database: Database, wanted: Conditions) -> dict[str, Any]:
    clause = _where(wanted)
    query = f"SELECT count(DISTINCT session), min(goals.id), max(goals.id), {_SUMS} FROM goals{clause.text}"  # noqa: S608
    row = database.connection.execute(query, clause.values).fetchone()
    return {"sessions": row[0], "first": row[1], "last": row[2], **_named(row[3:])}


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: value if name == "cost" else value or 0 for name, value in zip(_NAMES, row, strict=True)}


def _grouped(database: Database, wanted: Conditions, key: str, name: str, order: str) -> list[dict[str, Any]]:
    clause = _where(wanted)
    query = f"SELECT {key}, {_SUMS} FROM goals{clause.text} GROUP BY 1 ORDER BY {order}"  # noqa: S608
    return [{name: row[0], **_named(row[1:])} for row in database.connection.execute(query, clause.values)]


def _counts(database: Database, wanted: Conditions, key: str) -> list[tuple[Any, int]]:
    clause = _where(wanted)
    query = f"SELECT {key}, count(*) FROM goals{clause.text} GROUP BY 1 ORDER BY 2 DESC"  # noqa: S608
    return [(key, count) for key, count in database.connection.execute(query, clause.values)]


def _decisions(database: Database, wanted: Conditions) -> dict[str, int]:
    """Count how many proposals a person was asked about, and changed, declined or let through."""
    clause = _where(wanted)
    query = (
        "SELECT count(*), sum(by = 'person'), sum(by = 'person' AND commands.edited), "  # noqa: S608
        "sum(by = 'person' AND outcome <> 'ran'), sum(by = 'policy'), sum(by = 'approve-mode'), sum(by = 'nobody'), "
        "sum(outcome = 'ran'), sum(commands.exit_code <> 0) "
        f"FROM goals CROSS JOIN commands ON commands.goal = goals.id{clause.text}"
    )
    names = ("proposed", "asked", "edited", "declined", "policy", "unasked", "nobody", "ran", "nonzero")
    row = database.connection.execute(query, clause.values).fetchone()
    return {name: value or 0 for name, value in zip(names, row, strict=True)}


def _programs(database: Database, wanted: Conditions) -> list[dict[str, Any]]:
    """By the first program of each command, most used first."""
    clause = _where(wanted)
    query = (
        "SELECT CASE run WHEN '' THEN proposed ELSE run END, count(*), sum(outcome = 'ran'), sum(commands.exit_code <> 0), "  # noqa: S608
        "sum(commands.edited), max(commands.risk), sum(commands.duration) "
        f"FROM goals CROSS JOIN commands ON commands.goal = goals.id{clause.text} GROUP BY 1"
    )
    found: dict[str, list[Any]] = {}
    for command, *row in database.connection.execute(query, clause.values):
        sums = found.setdefault(program_of(command), [0, 0, 0, 0, 0, 0.0])
        for place, value in enumerate(row):
            sums[place] = max(sums[place], value or 0) if place == 4 else sums[place] + (value or 0)
    names = ("proposed", "ran", "failed", "edited", "risk", "seconds")
    rows = [{"program": program, **dict(zip(names, sums, strict=True))} for program, sums in found.items()]
    return sorted(rows, key=lambda row: (-row["proposed"], row["program"]))


_WRAPPERS = frozenset(("sudo", "env", "nohup", "time", "nice", "doas", "exec", "command"))


def program_of(command: str) -> str:
    """The name of the first program in `command`, roughly: settings of variables and words such as sudo are passed over."""
    for word in re.split(r"[\s;|&()]+", command[:500].strip(" \t\n({!;&|")):
        if re.match(r"[A-Za-z_]\w*=", word) or word.startswith("-") or word in _WRAPPERS:
            continue
        return word.strip("\"'").rpartition("/")[2][:40] or word[:40] or "?"
    return command.split(maxsplit=1)[0][:40] if command.split() else "?"
