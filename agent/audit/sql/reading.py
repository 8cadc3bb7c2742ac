"""Fill the columns of views: which lines and keys of the logs a question needs, their rows, and the statements that add these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from agent.audit.session_rows import HANDLERS, Row, SessionRows, with_rating
from agent.audit.sql.sources import Source
from agent.audit.sql.staging import PIECE, Piece, Wanted, blocks_of, each_in_brackets
from agent.audit.sql.views import ENVELOPE, Column, line_columns
from agent.recording.line import Line, Result, read_line
from agent.struct_types import built

if TYPE_CHECKING:
    import duckdb

FOLDED = frozenset(("sessions", "goals", "commands"))
"""The views whose rows are told by many lines together."""
_RATING = frozenset(("rules", "effects", "scopes", "elevated"))
# A cast to TIMESTAMP leaves out an offset, one to TIMESTAMPTZ takes the zone of this place where there is none.
_TIME = (
    "CASE WHEN {0} LIKE '%+__:__' OR {0} LIKE '%-__:__' "
    "THEN make_timestamp(epoch_us(try_cast({0} AS TIMESTAMPTZ))) ELSE try_cast({0} AS TIMESTAMP) END"
)
_OWN = {
    "time": _TIME.format("l.time"),
    "session": "coalesce(s.session, l.session)",
    "machine": "s.machine",
    "file": "s.file",
}


def wanted_for(view: str, columns: Iterable[Column], types: frozenset[str] | None = None) -> Wanted:
    """List what `view` needs when only `columns` of it are asked for; of `events` perhaps only those of some `types`."""
    words = set(re.findall(r"\w+", " ".join(column.sql or column.name for column in columns)))
    keys = frozenset(words & line_columns().keys()) | {"type"}
    return Wanted(frozenset(("command.output",)) if view == "outputs" else types, keys)


class Filling:
    """Adds pieces of staged lines to `columns` of a view that has a row for each of them. `refused`: lines that DuckDB could not read."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, view: str, columns: list[Column], wanted: Wanted) -> None:
        self.refused = 0
        self._connection = connection
        self._view, self._columns, self._wanted = view, columns, wanted

    def add(self, piece: Piece, number_key: str) -> None:
        """Add what is in the file of `piece`. Raises DuckDB's errors."""
        if piece.lines:
            lines = staged(self._scan(piece, number_key), number_key, self._wanted)
            added = self._connection.execute(rows_of(self._view, self._columns, f"({lines})", self._wanted)).fetchone()
            self.refused += piece.lines - (int(added[0]) if added else 0)

    def _scan(self, piece: Piece, number_key: str) -> str:
        kinds = {number_key: "BIGINT"}
        kinds |= {name: kind for name, kind in line_columns().items() if name in self._wanted.keys}
        return _read_json(piece.path, kinds, piece.longest)


_FIELDS = (
    "type", "time", "session", "goal_id", "goal", "origin", "cwd", "frontend", "program", "is_root", "planner", "model", "approve",
    "private", "status", "exit_code", "steps", "name", "reason", "command_id", "command", "decision", "by", "remark",
    "word_typed", "safety_off", "via", "confine", "conflict", "undo_id",
)  # fmt: skip
_DEAR = {
    "report": ("risk", *sorted(_RATING)),
    "verdict": ("verdict", "verdict_rule"),
    "result": ("duration", "timed_out", "interrupted", "stdout_bytes", "stderr_bytes"),
    "usage": ("input_tokens", "output_tokens", "cost"),
    "message": ("message",),
    "duration": ("duration",),
}
"""Fields that are read where one of these columns is asked for."""
_OF_COMMANDS = ("commands", "ran", "risk")
"""Columns of sessions and goals that tell of their commands."""


class _Absent:
    """The value of a field that is not read."""

    __slots__ = ()


for _field in structs.fields(Line):
    setattr(_Absent, _field.name, _field.default)


class LineFolder:
    """Reads `sources`, of which those of one session follow each other. `ignored`: lines that are no events."""

    def __init__(self, columns: Mapping[str, Collection[str]], go_on: Callable[[], None]) -> None:
        """`columns`: which of each view count."""
        self.ignored = 0
        self._go_on = go_on
        self._every = "sessions" in columns
        asked = {name for names in columns.values() for name in names}
        of_commands = "commands" in columns or not asked.isdisjoint(_OF_COMMANDS)
        self._handlers = {
            kind: handler for kind, handler in HANDLERS.items() if of_commands or not kind.startswith("command.")
        }
        dear = [name for name, tell in _DEAR.items() if not asked.isdisjoint(tell)]
        types = {field.name: field for field in structs.fields(Line)}
        fields = [
            (name, Result | None if name == "result" else types[name].type, types[name].default)
            for name in (*_FIELDS, *dear)
        ]
        line = msgspec.defstruct("FoldedLine", fields, bases=(_Absent, Struct), gc=False)
        self._many: Any = msgspec.json.Decoder(built(tuple[line], keep=False)).decode_lines  # type: ignore[valid-type]

    def rows(self, sources: Iterable[Source]) -> Iterator[tuple[str, Row]]:
        """Every row of the three views. Raises IoError, and what `go_on` raises."""
        handlers, every = self._handlers, self._every
        for (machine, named), group in groupby(sources, key=lambda source: (source.machine, source.session)):
            done: list[tuple[str, Row]] = []
            sessions: dict[str, SessionRows] = {}
            for source in group:
                for block in blocks_of(source.path, self._skip):
                    self._go_on()
                    for line in self._lines(block):
                        handler = handlers.get(line.type)
                        if handler or (every and line.type):
                            name = named or line.session
                            session = sessions.get(name)
                            if session is None:
                                session = sessions[name] = SessionRows({"machine": machine, "session": name}, done)
                            session.take(line, handler, every)
                        elif not line.type:
                            self.ignored += 1
                    yield from done
                    done.clear()
            for session in sessions.values():
                session.close()
            yield from done

    def _skip(self) -> None:
        self.ignored += 1

    def _lines(self, block: bytes) -> Iterable[Any]:
        """The lines of a block that are objects."""
        bracketed = each_in_brackets(block)
        try:
            if not block.isascii():
                block.decode()  # what is skipped is not looked at for that
            lines = self._many(bracketed)
            if len(lines) == bracketed.count(b"\n") + 1:
                return [line for (line,) in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        found = [(line, read_line(line)) for line in block.split(b"\n") if line.strip(b" \t\r")]
        self.ignored += sum(line is None for _, line in found)
        return [line for _, line in found if line is not None]


class RowFilling:
    """Folds `sources` to rows, and adds them to these columns of these views, through a file at `path`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, columns: dict[str, list[Column]], path: str) -> None:
        self._connection = connection
        self._columns = columns
        self._path = path
        self._encode = msgspec.json.Encoder().encode
        self._waiting: dict[str, list[bytes]] = {view: [] for view in columns}
        self._sizes = dict.fromkeys(columns, 0)

    def fill(self, sources: Sequence[Source], go_on: Callable[[], None]) -> int:
        """Add all rows; how many lines are no events. Raises IoError, DuckDB's errors, and what `go_on` raises."""
        names = {view: [column.name for column in columns] for view, columns in self._columns.items()}
        rated = not _RATING.isdisjoint(names.get("commands", ()))
        folder = LineFolder(names, go_on)
        for view, row in folder.rows(sources):
            if view in names:
                told: Row = with_rating(row) if rated and view == "commands" else row
                line = self._encode({name: told.get(name) for name in names[view]})
                self._waiting[view].append(line)
                self._sizes[view] += len(line)
                if self._sizes[view] > PIECE:
                    self._add(view)
        for view in names:
            self._add(view)
        return folder.ignored

    def _add(self, view: str) -> None:
        rows, columns = self._waiting[view], self._columns[view]
        if rows:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(b"\n".join(rows))
            kinds = {column.name: "VARCHAR" if column.type == "TIMESTAMP" else column.type for column in columns}
            cells = ", ".join(
                _TIME.format(f'"{each.name}"') if each.type == "TIMESTAMP" else f'"{each.name}"' for each in columns
            )
            scan = _read_json(self._path, kinds, max(map(len, rows)), ignore=False)
            self._connection.execute(f"INSERT INTO _{view}_rows ({_names(columns)}) SELECT {cells} FROM {scan}")
        self._waiting[view], self._sizes[view] = [], 0


def _read_json(path: str, kinds: dict[str, str], longest: int, *, ignore: bool = True) -> str:
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
    name = glob.escape(path).replace("'", "''")
    # DuckDB's buffers are twice this large, one a thread.
    size = max(longest + 1, 1 << 20)
    return (
        f"read_json('{name}', columns = {{{columns}}}, records = true, format = 'newline_delimited', "
        f"ignore_errors = {str(ignore).lower()}, maximum_object_size = {size})"
    )


def rows_of(view: str, columns: list[Column], source: str, wanted: Wanted) -> str:
    """The statement that adds a row of `view` for each line in `source`, filled in `columns` only."""
    kind = "" if wanted.types is None else f" AND type IN ({', '.join(map(repr, sorted(wanted.types)))})"
    values = ", ".join(column.sql or f'"{column.name}"' for column in columns)
    return f"INSERT INTO _{view}_rows ({_names(columns)}) SELECT {values} FROM {source} WHERE type IS NOT NULL{kind}"


def _names(columns: Iterable[Column]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


def staged(scan: str, number: str, wanted: Wanted) -> str:
    """The SELECT of the lines that `scan` reads, with whose they are: the key `number` tells that."""
    keys = ", ".join(f'l."{key}"' for key in line_columns() if key in wanted.keys and key not in _OWN)
    own = ", ".join(f"{value} AS {name}" for name, value in _OWN.items() if name in wanted.keys or name not in ENVELOPE)
    return f"SELECT {own}, {keys} FROM {scan} l LEFT JOIN _sources s ON l.{number} = s.number"
