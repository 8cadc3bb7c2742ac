"""List what was asked and run before, each text once: the history across sessions. Private goals are not in it."""

from __future__ import annotations

from msgspec import Struct

from agent.recording.index.database import Database

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
