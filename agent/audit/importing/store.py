"""Write imported logs to databases: SQLite from the standard library, PostgreSQL through psycopg."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agent.audit.importing.project import KEYS, SCHEMA_VERSION, TABLES, Row
from agent.config.optional_parts import install_command
from agent.config.settings import secrets_of, shown_url
from agent.protocol.errors import ConfigError, InvalidState, IoError

INDEXES = {"goals": ("status",), "commands": ("risk",), "events": ("type",)}

_MARK = "agent_shell_meta"
"""The table that says that a database is ours, and of which version."""
_SQLITE = {"text": "TEXT", "int": "INTEGER", "float": "REAL", "bool": "INTEGER", "time": "TEXT", "json": "TEXT"}
_POSTGRES = {
    "text": "TEXT", "int": "BIGINT", "float": "DOUBLE PRECISION", "bool": "BOOLEAN", "time": "TIMESTAMPTZ", "json": "JSONB",
}  # fmt: skip

_ROWS = 500
_CHARACTERS = 4 * 1024 * 1024  # in memory at once, give or take a line


def open_store(target: str) -> Store:
    """The database at `target`: a path, `sqlite:///PATH` or `postgresql://…`. Raises ConfigError, IoError."""
    if re.match(r"postgres(ql)?://", target, re.IGNORECASE):
        return _Postgres(target)
    if match := re.match(r"sqlite:(//)?(?=/)", target, re.IGNORECASE):
        return _Sqlite(re.sub(r"^/+", "/", target[match.end() :]))
    if "://" in target:
        raise ConfigError(
            "logs can be imported into SQLite and PostgreSQL", hint="--to PATH or --to postgresql://HOST/NAME"
        )
    return _Sqlite(os.path.abspath(os.path.expanduser(target)))


class Store:
    """One open database, in one transaction from its opening to `commit`; `shown` names it. Methods raise IoError."""

    shown = ""
    _placeholder = "?"
    _kinds = _SQLITE
    _tables = "SELECT name FROM sqlite_master WHERE type = 'table'"

    def version(self) -> int | None:
        """The version of the tables; None where there are none. Raises InvalidState for a database that holds something else."""
        tables = {row[0] for row in self._run(self._tables)}
        if _MARK not in tables and tables & set(TABLES):
            raise InvalidState(
                expected="a database of an import", found=f"other tables in {self.shown}", hint="name another with --to"
            )
        rows = self._run(f"SELECT version FROM {_MARK}") if _MARK in tables else []
        return int(rows[0][0]) if rows else None

    def make(self, *, anew: bool) -> None:
        """Make the tables; `anew`: without what is in them."""
        for table in (*TABLES, _MARK) if anew else ():
            self._run(f"DROP TABLE IF EXISTS {table}")
        for statement in _create(self._kinds):
            self._run(statement)
        if not self._run(f"SELECT version FROM {_MARK}"):
            self._run(f"INSERT INTO {_MARK} VALUES ({SCHEMA_VERSION})")

    def stamps(self) -> dict[str, tuple[str, str]]:
        """Folder and stamp of every log that was imported."""
        found = self._run("SELECT log, folder, stamp FROM logs")
        return {str(log): (str(folder), str(stamp)) for log, folder, stamp in found}

    def forget(self, log: str) -> None:
        """Remove every row of a log."""
        for table in TABLES:
            self._run(f"DELETE FROM {table} WHERE log = {self._placeholder}", (log,))

    def add(self, table: str, rows: Iterable[Row]) -> int:
        """Add rows; how many."""
        count, size, batch = 0, 0, list[Row]()
        for count, row in enumerate(rows, 1):  # noqa: B007
            batch.append(row)
            size += sum(len(value) for value in row if isinstance(value, str))
            if len(batch) == _ROWS or size > _CHARACTERS:  # a single line can have millions of them
                self._run_many(_insert(table, self._placeholder), batch)
                size, batch = 0, []
        if batch:
            self._run_many(_insert(table, self._placeholder), batch)
        return count

    def commit(self) -> None:
        """Make everything since the opening real."""
        self._run("COMMIT")

    def close(self) -> None:
        """Give up the database; what was not committed was never there. Never raises."""
        raise NotImplementedError

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        raise NotImplementedError

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        raise NotImplementedError


class _Sqlite(Store):
    def __init__(self, path: str) -> None:
        self.shown = path
        try:
            os.close(
                os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            )  # private from the start
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            self._connection.execute("BEGIN IMMEDIATE")
        except OSError as error:
            raise IoError(f"the database {path} cannot be opened: {error.strerror or error}") from error
        except sqlite3.Error as error:
            hint = "another import may be at work"
            raise IoError(f"the database {path} cannot be opened: {error}", hint=hint) from error

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        with self._in_words():
            return self._connection.execute(statement, values).fetchall()

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        with self._in_words():
            self._connection.executemany(statement, rows)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise IoError(f"the database {self.shown} failed: {error}") from error


class _Postgres(Store):
    _kinds = _POSTGRES
    _placeholder = "%s"
    _tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"

    def __init__(self, url: str) -> None:
        self.shown = shown_url(url)
        try:
            import psycopg
        except ImportError as error:
            what = "importing into PostgreSQL needs psycopg, which is not installed"
            raise ConfigError(what, hint=install_command("postgres")) from error
        self._psycopg: Any = psycopg
        self._secrets = secrets_of(url)
        with self._in_words():
            self._connection = psycopg.connect(url, connect_timeout=10)
        self._run("SELECT pg_advisory_xact_lock(715337042)")  # two imports at once: one after the other

    def add(self, table: str, rows: Iterable[Row]) -> int:
        if table != "events":
            return super().add(table, rows)
        place = list(TABLES["events"]).index("data")
        return super().add(table, ((*row[:place], _jsonb(row[place]), *row[place + 1 :]) for row in rows))

    def commit(self) -> None:
        with self._in_words():
            self._connection.commit()

    def close(self) -> None:
        with suppress(self._psycopg.Error):  # the server rolls back what was not committed
            self._connection.close()

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        with self._in_words():
            cursor = self._connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        with self._in_words(), self._connection.cursor() as cursor:
            cursor.executemany(statement, rows)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Raises what the server says, without the secrets of the URL; the error itself is not kept: it may hold them."""
        try:
            yield
        except self._psycopg.Error as error:
            text = " ".join(str(error).split())[:300]
            for secret in self._secrets:
                text = text.replace(secret, "…")
            raise IoError(f"the database {self.shown} failed: {text}") from None


_TOO_MUCH = re.compile(r"\\u0000|\\u[dD][89a-fA-F]|[eE][+-]?\d{4}|\d{1000}")


def _jsonb(line: str | None) -> str | None:
    """A line as PostgreSQL takes it: what its JSON cannot hold (NUL, numbers without bounds) makes the whole line a text."""
    if line is None or not _TOO_MUCH.search(line):
        return line
    import msgspec

    return msgspec.json.encode(line.replace("\\u0000", "\\u2400")).decode()


def _create(kinds: dict[str, str]) -> list[str]:
    """The statements that make all tables; `kinds` gives this database's name for each kind of column."""
    made = [f"CREATE TABLE IF NOT EXISTS {_MARK} (version INTEGER NOT NULL)"]
    for table, columns in TABLES.items():
        listed = ", ".join(f"{name} {kinds[kind]}" for name, kind in columns.items())
        made.append(f"CREATE TABLE IF NOT EXISTS {table} ({listed}, PRIMARY KEY ({', '.join(KEYS[table])}))")
        made += [
            f"CREATE INDEX IF NOT EXISTS {table}_by_{column} ON {table} ({column})" for column in INDEXES.get(table, ())
        ]
    return made


def _insert(table: str, placeholder: str) -> str:
    """The statement that adds one row."""
    columns = TABLES[table]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join([placeholder] * len(columns))})"
