"""What stands in the file of the memory is looked at before it is believed: a fault in it is no memory, and no fault of a goal."""

from __future__ import annotations

import sqlite3

import pytest

from agent.memory.asking import Place, experience, latest, like_goal, same_goal
from agent.memory.files import TABLES
from agent.memory.model import GoalWords

NOW = 1_790_000_000_000_000
PLACE = Place(cwd="/w", project="", now=NOW)
WORDS = GoalWords(key="show file", slots=(), terms=("show", "file"))


@pytest.fixture
def memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in TABLES.values():
        connection.execute(statement)
    connection.execute("INSERT INTO entries VALUES (1, x'00', 'show file', 'show files', '[]', 'ls', 'file show')")
    connection.executemany("INSERT INTO terms VALUES (?, 1)", [("show",), ("file",)])
    connection.execute("INSERT INTO uses VALUES (1, 1, ?, '/w', 'taught', 0, 1, 'offline')", (NOW,))
    return connection


def found(connection: sqlite3.Connection) -> list[str]:
    """The commands of all questions; each must have a time and texts that can be shown."""
    items = [*same_goal(connection, WORDS, PLACE)[0], *latest(connection, PLACE)]
    items += like_goal(connection, WORDS, PLACE, least=0.5, most=5)
    experience(connection, "ls", PLACE)
    for item in items:
        assert isinstance(item.command, str) and isinstance(item.cwd, str) and 0 < item.at < 1 << 53
    return [item.command for item in items]


def test_it_is_found(memory: sqlite3.Connection) -> None:
    assert found(memory) == ["ls"] * 3


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET command = x'ff00'",
        "UPDATE entries SET goal = NULL",
        f"UPDATE uses SET at = {1 << 62}",
        f"UPDATE uses SET at = {-(1 << 62)}",
        "UPDATE uses SET at = 'x'",
        "UPDATE uses SET cwd = NULL",
    ],
)
def test_what_nobody_here_wrote_is_not_found(memory: sqlite3.Connection, change: str) -> None:
    memory.execute(change)
    assert found(memory) == []
