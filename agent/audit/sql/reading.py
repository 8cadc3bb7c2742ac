"""Fill the columns of views from log lines: which lines a question needs, whole or only their heads, and the statements that add rows."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from enum import IntEnum
from functools import reduce
from typing import TYPE_CHECKING

import msgspec

from agent.audit.sql.views import ENVELOPE, Column, event_types, line_columns, views

if TYPE_CHECKING:
    import duckdb

    from agent.audit.sql.staging import Piece


_PART = 64 * 1024 * 1024  # bytes of staged lines that are grouped at once


class Filling:
    """Adds pieces to `columns` of views. `wanted`: what of the lines it needs; `refused`: lines that DuckDB could not read."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        columns: dict[str, list[Column]],
        types: frozenset[str] | None = None,
    ) -> None:
        self.wanted = reduce(Wanted.join, (wanted_for(view, some, types) for view, some in columns.items()))
        self.refused = 0
        self._types = types
        self._connection = connection
        self._columns = columns
        self._waiting = 0  # bytes of lines that are not in the views yet

    def add(self, piece: Piece, number_key: str) -> None:
        """Add what is in the file of `piece`. Raises DuckDB's errors."""
        if piece.lines:
            lines = staged(self._scan(piece, number_key), number_key, self.wanted)
            if self._columns.keys() <= {"lines"} or self._columns.keys() <= {"events"}:
                self._add_at_once(piece, lines)
                return
            self._keep(piece, lines)
        if piece.whole and self._waiting:
            self._group()

    def _add_at_once(self, piece: Piece, lines: str) -> None:
        for view, columns in self._columns.items():
            added = self._connection.execute(rows_of(view, columns, f"({lines})", (0, 1))).fetchone()
            self.refused += piece.lines - (int(added[0]) if added else 0)

    def _keep(self, piece: Piece, lines: str) -> None:
        statement = "INSERT INTO _lines" if self._waiting else "CREATE OR REPLACE TEMP TABLE _lines AS"
        added = self._connection.execute(f"{statement} {lines}").fetchone()
        self.refused += piece.lines - (int(added[0]) if added else 0)
        self._waiting += piece.size

    def _group(self) -> None:
        counted = self._connection.execute("SELECT count(*) FROM _lines WHERE type IS NULL").fetchone()
        self.refused += int(counted[0]) if counted else 0
        parts = -(-self._waiting // _PART)
        for view, columns in self._columns.items():
            for part in range(parts if view not in ("events", "outputs") else 1):
                self._connection.execute(rows_of(view, columns, "_lines", (part, parts), self._types))
        self._connection.execute("DROP TABLE _lines")
        self._waiting = 0

    def _scan(self, piece: Piece, number_key: str) -> str:
        kinds = {number_key: "BIGINT"}
        if self.wanted.raw:
            kinds["line"] = "VARCHAR"
        else:
            kinds |= {name: kind for name, kind in line_columns().items() if name in self.wanted.keys}
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
        path = glob.escape(piece.path).replace("'", "''")
        # DuckDB's buffers are twice this large, one a thread.
        longest = max(piece.longest + 1, 1 << 20)
        return (
            f"read_json('{path}', columns = {{{columns}}}, records = true, format = 'newline_delimited', "
            f"ignore_errors = true, maximum_object_size = {longest})"
        )


_COMMAND_TYPES = tuple(f"command.{name}" for name in ("proposed", "rated", "confirmed", "started", "finished"))
_GROUPS = {
    "sessions": (("machine", "session"), ""),
    "goals": (("machine", "session", "goal_id"), "goal_id <> ''"),
    "commands": (
        ("machine", "session", "command_id"),
        f"type IN ({', '.join(map(repr, _COMMAND_TYPES))}) AND command_id <> ''",
    ),
}
# A cast to TIMESTAMP leaves out an offset, one to TIMESTAMPTZ takes the zone of this place where there is none.
_TIME = (
    "CASE WHEN l.time LIKE '%+__:__' OR l.time LIKE '%-__:__' "
    "THEN make_timestamp(epoch_us(try_cast(l.time AS TIMESTAMPTZ))) ELSE try_cast(l.time AS TIMESTAMP) END"
)
_OWN = {"time": _TIME, "session": "coalesce(s.session, l.session)", "machine": "s.machine", "file": "s.file"}


class Take(IntEnum):
    """What of a line is copied. More of it does for all that less of it is enough for."""

    NOTHING = 0
    SESSION = 1  # its head, where it is the first one of a session in a row
    GOAL = 2  # … or of a goal
    COMMAND = 3  # … or of a command
    HEAD = 4
    WHOLE = 5


_HEADS = {"sessions": Take.SESSION, "goals": Take.GOAL, "commands": Take.COMMAND}


class Wanted(msgspec.Struct):
    """What a question needs of the lines.

    `takes`: by event type, `other` for types that are not there. `keys`: of the lines. `raw`: lines as texts, and nothing else.
    """

    takes: dict[str, Take]
    other: Take = Take.NOTHING
    keys: frozenset[str] = frozenset()
    raw: bool = False

    @property
    def firsts(self) -> bool:
        """Tell whether of some lines the head is taken where it is the first one."""
        return any(Take.NOTHING < take < Take.HEAD for take in (self.other, *self.takes.values()))

    def join(self, another: Wanted) -> Wanted:
        """What both need."""
        takes = {
            kind: max(self.takes.get(kind, self.other), another.takes.get(kind, another.other))
            for kind in self.takes.keys() | another.takes.keys()
        }
        return Wanted(takes, max(self.other, another.other), self.keys | another.keys)


def wanted_for(view: str, columns: Iterable[Column], types: frozenset[str] | None = None) -> Wanted:
    """What `view` needs when only `columns` of it are asked for; of `events` perhaps only those of some `types`."""
    columns = list(columns)
    if view == "lines":
        return Wanted({}, Take.WHOLE, raw=True)
    if view == "events":
        takes = {} if types is None else dict.fromkeys(types, Take.WHOLE)
        return Wanted(takes, Take.WHOLE if types is None else Take.NOTHING, _keys(columns) | {"type"})
    if view == "outputs":
        return Wanted({"command.output": Take.WHOLE}, keys=_keys(columns) | {"type"})
    head = _HEADS[view]
    whole: set[str] = set()
    for column in columns:
        kinds = re.findall(r"type = '([^']+)'", column.sql)
        whole.update(kinds)
        if not kinds and re.search(r"time\)|\*", column.sql):  # it grows from all lines, but from their heads
            head = Take.HEAD
    other = Take.NOTHING if view == "commands" else head
    takes = {kind: head if kind in _COMMAND_TYPES else other for kind in event_types()}
    takes |= {kind: Take.WHOLE for kind in whole if takes[kind]}
    return Wanted(takes, other, _keys(columns) | (line_columns().keys() & {"type", *_GROUPS[view][0]}))


def rows_of(
    view: str, columns: Iterable[Column], source: str, part: tuple[int, int], types: frozenset[str] | None = None
) -> str:
    """The statement that adds the rows of `view` which grow from the lines in `source`, filled in `columns` only.

    Of a view that groups, `part` (of so many) of the groups; of `events` perhaps only some `types`.
    """
    columns = list(columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    if view == "lines":
        values = ", ".join("try_cast(line AS JSON)" if column.name == "json" else column.name for column in columns)
        return f"INSERT INTO _lines_rows ({names}) SELECT {values} FROM {source}"
    if view not in _GROUPS:
        kind = " AND type = 'command.output'" if view == "outputs" else ""
        if view == "events" and types is not None:
            kind = f" AND type IN ({', '.join(map(repr, sorted(types)))})"
        values = ", ".join(column.sql or f'"{column.name}"' for column in columns)
        return f"INSERT INTO _{view}_rows ({names}) SELECT {values} FROM {source} WHERE type IS NOT NULL{kind}"
    keys, where = _GROUPS[view]
    values = ", ".join(column.sql or column.name for column in columns)
    conditions = ["type IS NOT NULL", *([where] if where else [])]
    if part[1] > 1:
        conditions.append(f"hash({keys[-1]}) % {part[1]} = {part[0]}")
    return (
        f"INSERT INTO _{view}_rows ({names}) SELECT {values} FROM {source} WHERE {' AND '.join(conditions)} "
        f"GROUP BY {', '.join(keys)}"
    )


def filled(view: str, names: Iterable[str]) -> list[Column]:
    """The columns of `view` that are in `names`, and those that its rows cannot be told apart without."""
    needed = {*names, *_GROUPS[view][0]} if view in _GROUPS else {*names} or {"machine"}
    return [column for column in views()[view] if column.name in needed]


def empty(view: str, columns: Iterable[Column]) -> list[str]:
    """The statements that make `view` without rows, with room for `columns`: the others are NULL, and would cost memory for nothing."""
    kept = {column.name: f'"{column.name}"' for column in columns}
    shown = (kept.get(column.name, f'NULL::{column.type} AS "{column.name}"') for column in views()[view])
    declared = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    return [
        f"CREATE OR REPLACE TEMP TABLE _{view}_rows ({declared})",
        f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(shown)} FROM _{view}_rows",
    ]


def staged(scan: str, number: str, wanted: Wanted) -> str:
    """The SELECT of the lines that `scan` reads, with whose they are: the key `number` tells that."""
    if wanted.raw:
        return f"SELECT s.machine, s.file, l.line FROM {scan} l JOIN _sources s ON l.{number} = s.number"
    keys = ", ".join(f'l."{key}"' for key in line_columns() if key in wanted.keys and key not in _OWN)
    own = ", ".join(f"{value} AS {name}" for name, value in _OWN.items() if name in wanted.keys or name not in ENVELOPE)
    return f"SELECT {own}, {keys} FROM {scan} l LEFT JOIN _sources s ON l.{number} = s.number"


def _keys(columns: Iterable[Column]) -> frozenset[str]:
    words = set(re.findall(r"\w+", " ".join(column.sql or column.name for column in columns)))
    return frozenset(words & line_columns().keys())
