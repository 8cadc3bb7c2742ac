"""Turn the conditions that all questions to the index share into SQL. Values never become part of a statement."""

from __future__ import annotations

import os
import re
from typing import Any, Literal

from msgspec import Struct

from agent.recording.index.values import RANKS


class Conditions(Struct, frozen=True, kw_only=True):
    """Conditions on sessions; empty fields do not matter. Times in microseconds since the epoch, `until` exclusive.

    `with_goals`: no sessions in which nothing was asked for.

    `exit_code`: a number or "nonzero". Those from `risks` on are about one and the same command of a goal.
    """

    since: int = 0
    until: int = 0
    cwd: str = ""
    statuses: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    exit_code: int | Literal["nonzero"] | None = None
    edited: bool = False
    by: str = ""
    with_goals: bool = False

    @property
    def are_any(self) -> bool:
        """Tell whether anything is left out that somebody asked to leave out."""
        return self not in (Conditions(), Conditions(with_goals=True))

    @property
    def of_commands(self) -> bool:
        return bool(self.risks or self.exit_code is not None or self.edited or self.by)


class Clause:
    """A growing WHERE with its values."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, part: str, *values: Any) -> None:
        self._parts.append(part)
        self.values.extend(values)

    @property
    def text(self) -> str:
        return f" WHERE {' AND '.join(self._parts)}" if self._parts else ""


def below(column: str, folder: str) -> tuple[str, tuple[str, ...]]:
    """A condition: `column` is `folder` or lies below it."""
    folder = os.path.normpath(folder)
    if folder == "/":
        return f"{column} >= '/' AND {column} < '0'", ()  # 0 is what comes after /
    return f"({column} = ? OR ({column} >= ? AND {column} < ?))", (folder, f"{folder}/", f"{folder}0")


def statuses_asked(statuses: tuple[str, ...]) -> tuple[str, ...]:
    """As they stand in the index: whether an open goal is running or was interrupted is found out afterwards."""
    return (*statuses, "open") if {"running", "interrupted"} & set(statuses) else statuses


def about_goals(clause: Clause, wanted: Conditions) -> None:
    """Add what is asked of goals."""
    if wanted.since:
        clause.add("goals.id >= ?", wanted.since)
    if wanted.until:
        clause.add("goals.id < ?", wanted.until)
    if wanted.cwd:
        part, values = below("+goals.cwd", wanted.cwd)  # +: goals are gone through in the order of time, not by folder
        clause.add(part, *values)
    if wanted.statuses:
        asked = statuses_asked(wanted.statuses)
        clause.add(f"goals.status IN ({', '.join('?' * len(asked))})", *asked)


def about_commands(wanted: Conditions) -> tuple[str, list[Any]]:
    """Put what is asked of one command as a condition over `commands`."""
    clause = Clause()
    if wanted.risks:
        clause.add(f"risk IN ({', '.join('?' * len(wanted.risks))})", *(RANKS[risk] for risk in wanted.risks))
    if wanted.exit_code == "nonzero":
        clause.add("exit_code <> 0")
    elif wanted.exit_code is not None:
        clause.add("exit_code = ?", wanted.exit_code)
    if wanted.edited:
        clause.add("edited = 1")
    if wanted.by:
        clause.add("by = ?", wanted.by)
    return clause.text.removeprefix(" WHERE "), clause.values


def match_of(words: tuple[str, ...]) -> str:
    """The words as a full-text query: each a word's beginning, all of them, in any of the texts."""
    return " ".join('"{}"*'.format(word.replace('"', '""')) for word in words)


def like(word: str) -> str:
    """The word as a pattern of LIKE with escapes by `~`."""
    return "%" + re.sub("([~%_])", r"~\1", word) + "%"
