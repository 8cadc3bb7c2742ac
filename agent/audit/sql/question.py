"""Find out which views and columns a query needs: asked of DuckDB itself, over empty tables, before any log is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from agent.audit.sql.views import Column

_PRUNING = frozenset({"unused_columns"})
_FILTERING = frozenset({"unused_columns", "filter_pushdown"})
_TYPE = re.compile(r"\(?type ?= ?'([a-z._-]+)'\)?")


class Needs(msgspec.Struct):
    """Views and columns that a query reads; of `events` perhaps only those of some types (None: of all)."""

    columns: dict[str, frozenset[str]]
    types: frozenset[str] | None = None


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
        names = self._connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
        self._optimizers = {str(row[0]) for row in names}
        self._connection.execute("SET temp_directory = ''")
        self._connection.execute("SET enable_external_access = false")

    def needs(self, query: str) -> Needs:
        """Find what `query`, one SELECT, reads. Raises DuckDB's error where it cannot be run."""
        try:
            scans = list(self._scans(query, _PRUNING))
        except self._duckdb.Error:
            self._connection.execute(query)  # says the same, with the right place in the text
            raise
        columns: dict[str, frozenset[str]] = {}
        for view, about in scans:
            columns[view] = columns.get(view, frozenset()) | self._read_by(view, about)
        return Needs(columns, self._types(query) if "events" in columns else None)

    def _types(self, query: str) -> frozenset[str] | None:
        """The types of events that are all the query looks at; None where that cannot be told."""
        types: set[str] = set()
        for view, about in self._scans(query, _FILTERING):
            if view == "events":
                filters = about.get("Filters", ())
                found = [_TYPE.fullmatch(each) for each in ([filters] if isinstance(filters, str) else filters)]
                of_this = [each[1] for each in found if each]
                if not of_this:
                    return None
                types.add(of_this[0])
        return frozenset(types) or None

    def close(self) -> None:
        self._connection.close()

    def _scans(self, query: str, optimizers: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each place where the plan of the query reads a view, made with these optimizers alone.

        All others are left out: they can hide a column, or a whole view, that a query names.
        """
        self._connection.execute(f"SET disabled_optimizers = '{','.join(sorted(self._optimizers - optimizers))}'")
        rows = self._connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
        waiting = [root for row in rows for root in msgspec.json.decode(row[-1])]
        while waiting:
            node = waiting.pop()
            waiting += node.get("children", ())
            about = node.get("extra_info", {})
            view = str(about.get("Table", "")).rpartition(".")[2].strip('"')
            if view in self._columns:
                yield view, about

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
