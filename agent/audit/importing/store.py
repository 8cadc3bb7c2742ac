"""The databases that logs can be imported into: SQLite from the standard library, PostgreSQL through psycopg."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import urlsplit

from agent.audit.importing.project import MARK, SCHEMA_VERSION, TABLES, Row, create, insert
from agent.config.extras import install_command
from agent.protocol.errors import ConfigError, InvalidState, IoError

_SQLITE = {"text": "TEXT", "int": "INTEGER", "float": "REAL", "bool": "INTEGER", "time": "TEXT", "json": "TEXT"}
_POSTGRES = {
    "text": "TEXT", "int": "BIGINT", "float": "DOUBLE PRECISION", "bool": "BOOLEAN", "time": "TIMESTAMPTZ", "json": "JSONB",
}  # fmt: skip

_ROWS = 500
_CHARACTERS = 4 * 1024 * 1024  # in memory at once, give or take a line


class Store(Protocol):
    """One open database, in one transaction from its opening to `commit`. Methods raise IoError."""

    shown: str

    def version(self) -> int | None:
        """The version of the tables; None where there are none."""

    def make(self, *, anew: bool) -> None:
        """Make the tables; `anew`: without what is in them."""

    def stamps(self) -> dict[str, tuple[str, str]]:
        """Folder and stamp of every log that was imported."""

    def forget(self, log: str) -> None:
        """Remove every row of a log."""

    def add(self, table: str, rows: Iterable[Row]) -> int:
        """Add rows; how many."""

    def commit(self) -> None:
        """Make everything since the opening real."""

    def close(self) -> None:
        """Give up the database; what was not committed was never there. Never raises."""


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


class _Base:
    """What both databases do alike. `_run` and `_run_many` raise IoError."""

    shown = ""
    _placeholder = "?"
    _kinds = _SQLITE

    def make(self, *, anew: bool) -> None:
        if anew:
            for table in (*TABLES, MARK):
                self._run(f"DROP TABLE IF EXISTS {table}")
        for statement in create(self._kinds):
            self._run(statement)
        if not self._run(f"SELECT version FROM {MARK}"):
            self._run(f"INSERT INTO {MARK} VALUES ({SCHEMA_VERSION})")

    def stamps(self) -> dict[str, tuple[str, str]]:
        return {
            str(log): (str(folder), str(stamp))
            for log, folder, stamp in self._run("SELECT log, folder, stamp FROM logs")
        }

    def forget(self, log: str) -> None:
        for table in TABLES:
            self._run(f"DELETE FROM {table} WHERE log = {self._placeholder}", (log,))

    def add(self, table: str, rows: Iterable[Row]) -> int:
        count = 0
        batch: list[Row] = []
        size = 0
        for row in rows:
            batch.append(row)
            size += sum(len(value) for value in row if isinstance(value, str))
            if len(batch) == _ROWS or size > _CHARACTERS:  # a single line can have millions of them
                self._run_many(insert(table, self._placeholder), batch)
                count += len(batch)
                batch, size = [], 0
        if batch:
            self._run_many(insert(table, self._placeholder), batch)
        return count + len(batch)

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        raise NotImplementedError

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        raise NotImplementedError


class _Sqlite(_Base):
    _kinds = _SQLITE

    def __init__(self, path: str) -> None:
        self.shown = path
        self._path = path
        try:
            descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )  # private from the start
            os.close(descriptor)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            self._connection.execute("BEGIN IMMEDIATE")
        except OSError as error:
            raise IoError(f"the database {path} cannot be opened: {error.strerror or error}") from error
        except sqlite3.Error as error:
            raise IoError(
                f"the database {path} cannot be opened: {error}", hint="another import may be at work"
            ) from error

    def version(self) -> int | None:
        tables = {row[0] for row in self._run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if MARK not in tables and tables & set(TABLES):
            raise InvalidState(
                expected="a database of an import", found=f"other tables in {self._path}", hint="name another with --to"
            )
        rows = self._run(f"SELECT version FROM {MARK}") if MARK in tables else []
        return int(rows[0][0]) if rows else None

    def commit(self) -> None:
        self._run("COMMIT")

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise IoError(f"the database {self._path} does not do it: {error}") from error

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        try:
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise IoError(f"the database {self._path} does not do it: {error}") from error


class _Postgres(_Base):
    _kinds = _POSTGRES
    _placeholder = "%s"

    def __init__(self, url: str) -> None:
        self.shown = shown_url(url)
        try:
            import psycopg
        except ImportError as error:
            raise ConfigError(
                "importing into PostgreSQL needs psycopg, which is not installed", hint=install_command("postgres")
            ) from error
        self._psycopg: Any = psycopg
        self._secrets = _secrets_of(url)
        try:
            self._connection = psycopg.connect(url, connect_timeout=10)
            self._run("SELECT pg_advisory_xact_lock(715337042)")  # two imports at once: one after the other
        except psycopg.Error as error:
            raise self._in_words(error) from None

    def version(self) -> int | None:
        found = self._run("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        tables = {row[0] for row in found}
        if MARK not in tables and tables & set(TABLES):
            raise InvalidState(
                expected="a database of an import", found=f"other tables in {self.shown}", hint="name another with --to"
            )
        rows = self._run(f"SELECT version FROM {MARK}") if MARK in tables else []
        return int(rows[0][0]) if rows else None

    def add(self, table: str, rows: Iterable[Row]) -> int:
        if table != "events":
            return super().add(table, rows)
        place = list(TABLES["events"]).index("data")
        return super().add(table, ((*row[:place], _jsonb(row[place]), *row[place + 1 :]) for row in rows))

    def commit(self) -> None:
        try:
            self._connection.commit()
        except self._psycopg.Error as error:
            raise self._in_words(error) from None

    def close(self) -> None:
        try:
            self._connection.close()
        except self._psycopg.Error:
            pass  # the server rolls back what was not committed

    def _run(self, statement: str, values: Row = ()) -> list[Row]:
        try:
            cursor = self._connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []
        except self._psycopg.Error as error:
            raise self._in_words(error) from None

    def _run_many(self, statement: str, rows: list[Row]) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(statement, rows)
        except self._psycopg.Error as error:
            raise self._in_words(error) from None

    def _in_words(self, error: Exception) -> IoError:
        """What the server says, without the secrets of the URL; the error itself is not kept: it may hold them."""
        text = " ".join(str(error).split())[:300]
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return IoError(f"the database {self.shown} does not do it: {text}")


def shown_url(url: str) -> str:
    """The URL without user, password and options."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
    except ValueError:
        return "postgresql://…"


def _secrets_of(url: str) -> list[str]:
    from urllib.parse import parse_qsl, unquote

    try:
        parts = urlsplit(url)
        found = [
            parts.password or "",
            unquote(parts.password or ""),
            *(value for _, value in parse_qsl(parts.query) if len(value) > 5),
            url,
        ]
    except ValueError:
        found = [url]
    return sorted({each for each in found if each}, key=len, reverse=True)


_TOO_MUCH = re.compile(r"\\u0000|\\u[dD][89a-fA-F]|[eE][+-]?\d{4}|\d{1000}")


def _jsonb(line: str | None) -> str | None:
    """A line as PostgreSQL takes it: what its JSON cannot hold (NUL, numbers without bounds) makes the whole line a text."""
    if line is None or not _TOO_MUCH.search(line):
        return line
    import msgspec

    return msgspec.json.encode(line.replace("\\u0000", "\\u2400")).decode()
