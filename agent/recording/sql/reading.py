"""How the columns of a view grow from lines: which lines a question needs, whole or only their heads, and the statement that adds rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

import msgspec

from agent.recording.sql.columns import Column, event_types, line_columns, types_with
from agent.recording.sql.views import views

_HEAD = frozenset({"type", "time", "session", "goal_id", "command_id"})
_COMMAND_TYPES = tuple(f"command.{name}" for name in ("proposed", "rated", "confirmed", "started", "finished"))
_GROUPS = {
    "sessions": (("machine", "session"), ""),
    "goals": (("machine", "session", "goal_id"), "goal_id <> ''"),
    "commands": (
        ("machine", "session", "command_id"),
        f"type IN ({', '.join(map(repr, _COMMAND_TYPES))}) AND command_id <> ''",
    ),
}
_OWN = {
    "time": "try_cast(l.time AS TIMESTAMP)",
    "session": "coalesce(s.session, l.session)",
    "machine": "s.machine",
    "file": "s.file",
}


class Take(Enum):
    """What of a line is copied."""

    NOTHING = 0
    HEAD = 1
    WHOLE = 2


class Wanted(msgspec.Struct):
    """What a question needs of the lines.

    `takes`: by event type, `other` for types that are not there. `every_head`: otherwise, of heads of one command in a row the first is
    enough. `keys`: of the lines. `raw`: lines as texts, and nothing else.
    """

    takes: dict[str, Take]
    other: Take = Take.NOTHING
    every_head: bool = False
    keys: frozenset[str] = frozenset()
    raw: bool = False

    def join(self, another: Wanted) -> Wanted:
        """What both need."""
        kinds = self.takes.keys() | another.takes.keys()
        most = {
            kind: max(self.takes.get(kind, self.other), another.takes.get(kind, another.other), key=_much)
            for kind in kinds
        }
        other = max(self.other, another.other, key=_much)
        return Wanted(most, other, self.every_head or another.every_head, self.keys | another.keys)


def _much(take: Take) -> int:
    return take.value


def wanted_for(view: str, columns: Iterable[Column]) -> Wanted:
    """What `view` needs when only `columns` of it are asked for."""
    columns = list(columns)
    if view == "lines":
        return Wanted({}, Take.WHOLE, raw=True)
    if view == "events":
        return Wanted({}, Take.WHOLE, keys=_keys(columns) | {"type", "time", "session"})
    if view == "outputs":
        return Wanted({"command.output": Take.WHOLE}, keys=_keys(columns) | {"type", "time", "session"})
    known = event_types()
    heads = _COMMAND_TYPES if view == "commands" else known
    takes = {kind: Take.HEAD if kind in heads else Take.NOTHING for kind in known}
    every = False
    for column in columns:
        kinds = re.findall(r"type = '([^']+)'", column.sql)
        if not kinds:
            fields = _keys([column]) - _HEAD
            kinds = [kind for field in fields for kind in types_with(field)]
            every = every or "min(time)" in column.sql or "max(time)" in column.sql or "count(*)" in column.sql
        takes.update((kind, Take.WHOLE) for kind in kinds if takes[kind] is not Take.NOTHING)
    other = (
        Take.NOTHING if view == "commands" else Take.WHOLE
    )  # what a newer version wrote has fields that nobody knows
    return Wanted(takes, other, every, _keys(columns) | _HEAD | {"seq"})


def rows_of(view: str, columns: Iterable[Column], source: str, part: tuple[int, int]) -> str:
    """The statement that adds the rows of `view` which grow from the lines in `source`, filled in `columns` only.

    Of a view that groups, `part` (of so many) of the groups.
    """
    columns = list(columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    if view == "lines":
        return f"INSERT INTO lines (machine, file, json) SELECT machine, file, try_cast(line AS JSON) FROM {source}"
    if view not in _GROUPS:
        kind = " AND type = 'command.output'" if view == "outputs" else ""
        values = ", ".join(column.sql or f'"{column.name}"' for column in columns)
        return f"INSERT INTO {view} ({names}) SELECT {values} FROM {source} WHERE type IS NOT NULL{kind}"
    keys, where = _GROUPS[view]
    values = ", ".join(column.sql or column.name for column in columns)
    conditions = ["type IS NOT NULL", *([where] if where else [])]
    if part[1] > 1:
        conditions.append(f"hash({keys[-1]}) % {part[1]} = {part[0]}")
    return (
        f"INSERT INTO {view} ({names}) SELECT {values} FROM {source} WHERE {' AND '.join(conditions)} "
        f"GROUP BY {', '.join(keys)}"
    )


def filled(view: str, names: Iterable[str]) -> list[Column]:
    """The columns of `view` that are in `names`, and those that its rows cannot be told apart without."""
    needed = {*names, *(_GROUPS[view][0] if view in _GROUPS else ("machine",))}
    return [column for column in views()[view] if column.name in needed]


def staged(scan: str, number: str, wanted: Wanted) -> str:
    """The SELECT of the lines that `scan` reads, with whose they are: the key `number` tells that."""
    if wanted.raw:
        return f"SELECT s.machine, s.file, l.line FROM {scan} l JOIN _sources s ON l.{number} = s.number"
    keys = ", ".join(f'l."{key}"' for key in line_columns() if key in wanted.keys and key not in _OWN)
    own = ", ".join(f"{value} AS {name}" for name, value in _OWN.items())
    return f"SELECT {own}, {keys} FROM {scan} l LEFT JOIN _sources s ON l.{number} = s.number"


def _keys(columns: Iterable[Column]) -> frozenset[str]:
    words = set(re.findall(r"\w+", " ".join(column.sql or column.name for column in columns)))
    return frozenset(words & line_columns().keys())
