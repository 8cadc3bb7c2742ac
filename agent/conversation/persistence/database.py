"""Open the database of interviews, a private SQLite file or PostgreSQL, and bring its tables up to date, one process at a time.

What a database says when it fails is told without the user's password, whatever it quotes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection

from agent.config.optional_parts import install_command
from agent.config.paths import make_folder
from agent.config.settings import secrets_of, shown_url
from agent.conversation.persistence.tables import METADATA, REVISIONS, VERSION_TABLE
from agent.protocol.errors import ConfigError, InvalidState, IoError
from agent.recording.private_database import connect_privately, lock_beside
from agent.text.shown import shown_line

WAIT = 5.0
"""Seconds that a connection, a lock or a statement may take."""
_APPLICATION = 0x41475349  # "AGSI": whose file it is
_MIGRATION_LOCK = 715337043
_CACHE_KIB = 2_048
_ACTING = "SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')"
"""None is ours: a query that never ends could be in one, and SQLite gives up none."""
_POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")


class Database:
    """An open database, with all of its tables. Threads may share it; each takes a connection for a transaction."""

    def __init__(self, engine: sa.Engine, shown: str, *, path: str = "", secrets: tuple[str, ...] = ()) -> None:
        self.engine, self.shown = engine, shown
        self._secrets, self._path = secrets, path
        self._file = _identity(path)

    def is_there(self) -> bool:
        """Tell whether the file that was opened still is what its name leads to: what is written into another one is lost."""
        return _identity(self._path) == self._file

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of what is done within, or nothing of it. Raises IoError."""
        with self.in_words(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that keeps no writer waiting. Raises IoError."""
        with self.in_words(), self.engine.connect().execution_options(reads_only=True) as connection:
            yield connection

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Say what went wrong. The error itself is not kept, since it quotes values and the URL. Raises IoError."""
        try:
            yield
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise IoError(f"the database {self.shown} failed: {self._words(error)}") from None
        except (ValueError, TypeError):  # columns of SQLite hold values of any type
            raise IoError(f"the database {self.shown} holds what this program never writes") from None

    def leave_no_trace(self) -> None:
        """Empty the log of SQLite, where removed rows are still to be read. Raises IoError, also where another process reads it."""
        if not self._path:
            return
        with self.in_words(), closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy, *_ = cursor.fetchone() or (0,)
        if busy:
            raise IoError(f"the database {self.shown} is being read by another process", hint="try it again")

    def address(self, kind: str) -> str:
        """Return its URL, with the password, for others who open it; "" where it is of another kind."""
        url = self.engine.url
        return url.render_as_string(hide_password=False) if url.get_backend_name() == kind else ""

    def close(self) -> None:
        self.engine.dispose()

    def _words(self, error: Exception) -> str:
        told = getattr(error, "orig", None) or error
        text = (told.strerror if isinstance(told, OSError) and told.strerror else str(told)) or type(told).__name__
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return shown_line(text, 300)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def open_database(url: str, default_path: str) -> Database:
    """Open what `url` names, the file at `default_path` where it is "". Raises ConfigError, InvalidState, IoError."""
    if not url:
        return _open_sqlite(default_path)
    scheme, colon, rest = url.partition("://")
    if colon and scheme.lower() == "sqlite":
        return _open_sqlite(os.path.abspath(os.path.expanduser(rest.removeprefix("/"))))
    if colon and scheme.lower() in _POSTGRES:
        return _open_postgres(f"postgresql+psycopg://{rest}")
    raise ConfigError(
        "interviews can be kept in SQLite and PostgreSQL",
        hint="interview_database is sqlite:///PATH or postgresql://USER@HOST/NAME; none: they are in their logs only",
    )


def migrate(connection: sa.Connection, target: str = "head", *, down: bool = False) -> None:
    """Run the revisions up, or down, to `target` within the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    (command.downgrade if down else command.upgrade)(config, target)


def _open_sqlite(path: str) -> Database:
    shown = shown_line(path, 200)
    try:
        make_folder(os.path.dirname(path))
        lock = lock_beside(path, exclusive=True, wait=2 * WAIT)  # to become a WAL takes it alone
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise IoError(f"the database {shown} cannot be opened: {shown_line(words, 200)}") from error
    try:
        engine = sa.create_engine("sqlite://", creator=lambda: _connected(path), poolclass=sa.QueuePool, **_options())
        sa.event.listen(engine, "begin", _begin)
        engine.connect().close()  # makes the file
        return _with_tables(Database(engine, shown, path=path))
    finally:
        os.close(lock)


def _connected(path: str) -> sqlite3.Connection:
    connection = connect_privately(path, wait=WAIT, cache_kib=_CACHE_KIB)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is not left in free pages
    return connection


def _begin(connection: sa.Connection) -> None:
    """Have a writer wait at the beginning: two that read first, and write then, would fail."""
    reads = connection.get_execution_options().get("reads_only")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _open_postgres(url: str) -> Database:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        what = "interviews in PostgreSQL need psycopg, which is not installed"
        raise ConfigError(what, hint=install_command("postgres")) from error
    shown, secrets = shown_url(url), tuple(secrets_of(url))
    bounds = {"connect_timeout": int(WAIT), "keepalives_idle": 10, "tcp_user_timeout": int(2_000 * WAIT)}
    try:
        address = sa.make_url(url)
        given = {key: value for key, value in bounds.items() if key not in address.query}
        engine = sa.create_engine(address, connect_args=given, pool_pre_ping=True, **_options())
    except (sa.exc.ArgumentError, ValueError) as error:
        hint = "interview_database is postgresql://USER:PASSWORD@HOST:PORT/NAME"
        raise ConfigError("the address of the database cannot be read", hint=hint) from error
    sa.event.listen(engine, "connect", _bounded)
    return _with_tables(Database(engine, shown, secrets=secrets))


def _bounded(connection: DBAPIConnection, _: Any) -> None:
    """Have the server give up, too, what takes too long."""
    driver: Any = connection
    driver.autocommit = True
    milliseconds = int(1_000 * WAIT)
    driver.execute(f"SET statement_timeout = {milliseconds}")
    driver.execute(f"SET lock_timeout = {milliseconds}")
    driver.execute(f"SET idle_in_transaction_session_timeout = {4 * milliseconds}")
    driver.autocommit = False


def _options() -> dict[str, Any]:
    return {
        "pool_size": 2,
        "max_overflow": 6,
        "pool_timeout": 2 * WAIT,
        "json_serializer": encoded,
        "json_deserializer": decoded,
        "hide_parameters": True,
    }


def encoded(value: Any) -> str:
    """JSON as both databases take it: PostgreSQL's holds no NUL."""
    return msgspec.json.encode(value).decode().replace("\\u0000", "\\u2400")


def decoded(text: str | bytes) -> Any:
    """Return what it says, "" for what is no JSON, or too deep: nothing of ours is that, and the rows beside it are to be read."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""


def _with_tables(database: Database) -> Database:
    try:
        with database.writing() as connection:
            if connection.dialect.name == "postgresql":  # two at once: one after the other
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            _make(connection, database.shown)
    except BaseException:
        database.close()
        raise
    return database


def _make(connection: sa.Connection, shown: str) -> None:
    """Bring the tables up to date. Raises InvalidState for what holds others, or those of a later program."""
    is_file = connection.dialect.name == "sqlite"
    tables = set(sa.inspect(connection).get_table_names())
    foreign = is_file and connection.exec_driver_sql(_ACTING).first() is not None
    if VERSION_TABLE not in tables:
        taken = tables if is_file else tables & set(METADATA.tables)
        foreign = bool(foreign or taken or (is_file and connection.exec_driver_sql("PRAGMA application_id").scalar()))
    if foreign:
        raise InvalidState(
            expected="a database of interviews",
            found="one of something else",
            message=f"the database {shown} holds something else",
            hint="name another one in interview_database",
        )
    found = (
        connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()  # noqa: S608  # a name of ours
        if VERSION_TABLE in tables
        else None
    )
    if found == REVISIONS[-1]:
        return
    if found is not None and found not in REVISIONS:
        raise InvalidState(
            expected=f"a database of revision {REVISIONS[-1]} at the most",
            found=f"one of revision {shown_line(str(found), 20)}",
            message=f"the database {shown} was made by a later version of this program",
            hint="update this one, or name another database in interview_database",
        )
    migrate(connection)
    if is_file:
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")
