"""What a query needs of the views: asked of DuckDB itself, over empty tables, before any log is read."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.recording.sql.columns import Column

_PRUNING = "unused_columns"


class Planner:
    """DuckDB without any data or file, which says what a query would read."""

    def __init__(self, duckdb: Any, views: dict[str, tuple[Column, ...]]) -> None:
        self._duckdb = duckdb
        self._columns = {view: {column.name for column in columns} for view, columns in views.items()}
        self._connection = duckdb.connect(
            ":memory:", config={"threads": 1, "memory_limit": "100MB", "python_enable_replacements": "false"}
        )
        for statement in tables(views):
            self._connection.execute(statement)
        # All else that makes a plan quicker is left out: it can hide a column, or a whole view, that a query names.
        names = [str(row[0]) for row in self._connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
        self._connection.execute(f"SET disabled_optimizers = '{','.join(name for name in names if name != _PRUNING)}'")
        self._connection.execute("SET temp_directory = ''")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def needs(self, query: str) -> dict[str, frozenset[str]]:
        """The columns of each view that `query`, one SELECT, reads. Raises DuckDB's error where it cannot be run."""
        try:
            rows = self._connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
        except self._duckdb.Error:
            self._connection.execute(query)  # says the same, with the right place in the text
            raise
        found: dict[str, frozenset[str]] = {}
        for row in rows:
            for root in msgspec.json.decode(row[-1]):
                self._collect(root, found)
        return found

    def close(self) -> None:
        self._connection.close()

    def _collect(self, root: dict[str, Any], found: dict[str, frozenset[str]]) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            waiting += node.get("children", ())
            about = node.get("extra_info", {})
            view = str(about.get("Table", "")).rpartition(".")[2].strip('"')
            if view in self._columns:
                found[view] = found.get(view, frozenset()) | self._read_by(view, about)

    def _read_by(self, view: str, about: dict[str, Any]) -> frozenset[str]:
        columns = about.get("Projections")
        names = [columns] if isinstance(columns, str) else columns
        if names == [""]:
            return frozenset()
        every = frozenset(self._columns[view])
        # A plan that is written in another way than expected costs time, and no answer.
        return frozenset(names) if isinstance(names, list) and every.issuperset(names) else every


def tables(views: dict[str, tuple[Column, ...]]) -> list[str]:
    """The statements that make an empty table for each view."""
    return [f"CREATE TEMP TABLE {view} ({', '.join(map(_declared, columns))})" for view, columns in views.items()]


def _declared(column: Column) -> str:
    return f'"{column.name}" {column.type}'
