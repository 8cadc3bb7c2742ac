"""Fills views from staged lines, a few sessions at a time: no group of lines is ever larger than what fits into little memory."""

from __future__ import annotations

import glob
from functools import reduce
from typing import TYPE_CHECKING

from agent.audit.sql.columns import Column, line_columns
from agent.audit.sql.reading import Wanted, rows_of, staged, wanted_for

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
