"""DuckDB over the logs where they lie: read-only, within a fixed memory, and unable to reach any other file or the network."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec

from agent.audit.sql.query_limits import PrivateFolder, bounded, remove_leftovers
from agent.audit.sql.question import Planner
from agent.audit.sql.reading import FOLDED, Filling, RowFilling, wanted_for
from agent.audit.sql.sources import Source
from agent.audit.sql.staging import Staging
from agent.audit.sql.views import Column, empty, filled, views
from agent.config.optional_parts import install_command
from agent.protocol.errors import ConfigError, InvalidRequest, IoError

if TYPE_CHECKING:
    import duckdb

DEFAULT_MEMORY = "150MB"
_ROWS = 1_000


class Answer:
    """The rows of one query as they come. `columns` are names, `types` what DuckDB calls them."""

    def __init__(self, database: LogDatabase, result: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._result = result
        self.columns = [str(each[0]) for each in result.description or ()]
        self.types = [str(each[1]) for each in result.description or ()]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Every row, once. Raises InvalidRequest where a value cannot be computed, IoError where memory does not suffice."""
        while True:
            self._database.go_on()
            try:
                some = self._result.fetchmany(_ROWS)
            except Exception as error:
                raise self._database.in_words(error) from error
            if not some:
                return
            yield from some


class LogDatabase:
    """A DuckDB database of views over `sources`, as a context manager.

    `memory`: what DuckDB may take, such as "200MB"; what does not fit goes to a private folder that is removed at the end.
    Raises ConfigError without DuckDB or for a `memory` it does not understand, IoError.
    """

    def __init__(self, sources: Sequence[Source], *, memory: str = DEFAULT_MEMORY) -> None:
        self._duckdb = load_duckdb()
        self._sources = sorted(sources, key=lambda source: (source.machine, source.session, source.segment))
        self._memory = memory
        self._ignored = 0
        self._stop = threading.Event()
        self._filled: dict[str, frozenset[str]] = {}
        self._bound = ExitStack()
        self._private: PrivateFolder | None = None
        self._planner: Planner | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> LogDatabase:
        remove_leftovers()
        self._private = PrivateFolder()
        try:
            self._connection = self._open()
            self._planner = Planner(self._duckdb, views())
            self._prepare(self._connection)
            self._bound.enter_context(bounded(self._limit(self._connection)))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._bound.close()
        if self._planner is not None:
            self._planner.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._private is not None:
            self._private.remove()

    def ask(self, query: str) -> Answer:
        """Run one SELECT. Raises InvalidRequest for anything else, and with DuckDB's reason where it cannot be run."""
        return Answer(self, self._run(query, query))

    def write_parquet(self, query: str, path: str) -> int:
        """Run one SELECT into a new file at `path`, which must be in `self.folder`; how many rows. Raises like `ask`."""
        # A line end, so that a comment at the end of the query does not swallow the bracket; it is one SELECT, as is checked.
        text = query.strip().rstrip(";")
        statement = f"COPY (\n{text}\n) TO {_quoted(path)} (FORMAT parquet, COMPRESSION zstd)"
        copied = self._run(query, statement).fetchone()
        return int(copied[0]) if copied else 0

    def _run(self, query: str, statement: str) -> duckdb.DuckDBPyConnection:
        """The result of `statement`, made of `query`, for which the views are filled first."""
        connection = self._opened()
        self._check(query)
        self._read_for(query)
        try:
            return connection.execute(statement)
        except Exception as error:
            raise self.in_words(error) from error

    @property
    def folder(self) -> str:
        """The private folder for temporary files."""
        assert self._private is not None, "used outside of its `with`"
        return self._private.path

    def ignored(self) -> int:
        """Count lines that were read for the answer, are no events and so are in no view."""
        return self._ignored

    def go_on(self) -> None:
        """Raises InvalidRequest after `interrupt`."""
        if self._stop.is_set():
            raise InvalidRequest("the query was interrupted")

    def interrupt(self) -> None:
        """End the running query, and all that is asked after it, from another thread."""
        self._stop.set()
        if self._connection is not None:
            self._connection.interrupt()

    def in_words(self, error: Exception) -> Exception:
        """Put what DuckDB says into words for people."""
        text, duckdb = str(error), self._duckdb
        if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
            hint = "give it more with --memory-limit, or ask for fewer or shorter columns"
            return IoError(f"the query needs more than {self._memory} of memory", hint=hint)
        if isinstance(error, duckdb.InterruptException):
            return InvalidRequest("the query was interrupted")
        if isinstance(error, duckdb.PermissionException):
            hint = "`agent-shell sessions sql --schema` lists them"
            return InvalidRequest("a query can read the views, and no other file", hint=hint)
        if isinstance(error, (OverflowError, ValueError, ImportError)) or "No module named" in text:
            # Python has no such value, or DuckDB wants a package for it that nothing else needs
            hint = "cast it: now()::VARCHAR, …::TIMESTAMP, …::VARCHAR"
            return InvalidRequest("the answer holds a value that cannot be shown", hint=hint)
        if isinstance(error, duckdb.IOException):
            return IoError(": ".join(["a log cannot be read", *text.strip().splitlines()[:1]]))
        if isinstance(error, duckdb.Error):
            message, _, rest = text.strip().partition("\n\nLINE ")
            place = f"LINE {rest}" if rest else "`agent-shell sessions sql --schema` lists views and columns"
            return InvalidRequest(message.replace(" Error:", ":", 1), hint=place.replace("\n", "\n  "))
        return error

    def _opened(self) -> duckdb.DuckDBPyConnection:
        assert self._connection is not None, "used outside of its `with`"
        return self._connection

    def _open(self) -> duckdb.DuckDBPyConnection:
        options: dict[str, Any] = {
            "memory_limit": self._memory,
            "temp_directory": os.path.join(self.folder, "spill"),
            "threads": min(os.cpu_count() or 1, 2),  # each has buffers of its own
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "python_enable_replacements": "false",
            "enable_external_file_cache": "false",  # each file is read once
        }
        try:
            return self._duckdb.connect(":memory:", config=options)  # type: ignore[no-any-return]
        except self._duckdb.Error as error:
            what = f"--memory-limit {self._memory}: DuckDB does not take it"
            raise ConfigError(what, hint="such as 200MB or 2GB") from error

    def _limit(self, connection: duckdb.DuckDBPyConnection) -> str:
        row = connection.execute("SELECT current_setting('memory_limit')").fetchone()
        return str(row[0]) if row else ""

    def _prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the empty views. From here on nothing but the private folder can be reached, and no setting be changed."""
        listing = os.path.join(self.folder, "sources.jsonl")
        with open(listing, "wb") as file:
            for number, source in enumerate(self._sources):
                line = [str(number), source.machine, _text(source.path), source.session or None]
                file.write(msgspec.json.encode(line) + b"\n")
        columns = "columns = {'s': 'VARCHAR[]'}, format = 'newline_delimited', records = false"
        connection.execute(
            "CREATE TEMP TABLE _sources AS SELECT s[1]::BIGINT AS number, s[2] AS machine, s[3] AS file, s[4] AS session "
            f"FROM read_json({_quoted(glob.escape(listing))}, {columns})"
        )
        os.unlink(listing)
        for view in views():
            for statement in empty(view, filled(view, ())):
                connection.execute(statement)
        connection.execute(f"SET allowed_directories = [{_quoted(self.folder + '/')}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def _read_for(self, query: str) -> None:
        """Fill what `query` needs of the views, from the logs. Raises InvalidRequest where it cannot be run, IoError."""
        assert self._planner is not None
        try:
            needs = self._planner.needs(query)
            missing = {
                view: names | self._filled.get(view, frozenset())
                for view, names in needs.columns.items()
                if view not in self._filled or not names <= self._filled[view]
            }
            self._ignored = 0 if missing else self._ignored
            folded = {view: missing.pop(view) for view in missing.keys() & FOLDED}
            if folded:
                self._fold(folded)
            for view, names in missing.items():
                self._fill(view, names, needs.types if view == "events" else None)
        except Exception as error:
            raise self.in_words(error) from error
        self.go_on()

    def _fold(self, names: dict[str, frozenset[str]]) -> None:
        """Fill these columns of these views anew, in one pass over the logs."""
        connection = self._opened()
        columns = {view: self._emptied(view, wanted) for view, wanted in names.items()}
        filling = RowFilling(connection, columns, os.path.join(self.folder, "lines.jsonl"))
        self._ignored = max(self._ignored, filling.fill(self._sources, self.go_on))
        self._filled |= names

    def _fill(self, view: str, names: frozenset[str], types: frozenset[str] | None) -> None:
        """Fill these columns of a view anew, in one pass over the logs; of `events` perhaps with some types only."""
        columns = self._emptied(view, names)
        wanted = wanted_for(view, columns, types)
        filling = Filling(self._opened(), view, columns, wanted)
        staging = Staging(wanted, os.path.join(self.folder, "lines.jsonl"), self.go_on)
        for piece in staging.pieces(self._sources):
            filling.add(piece, staging.number_key)
        self._ignored = max(self._ignored, staging.ignored + filling.refused)
        if types is None:  # else another query may need more
            self._filled[view] = names

    def _emptied(self, view: str, names: frozenset[str]) -> list[Column]:
        """The columns of `names`, for which `view` has room now, and no rows."""
        columns = filled(view, names)
        self._filled.pop(view, None)
        for statement in empty(view, columns):
            self._opened().execute(statement)
        return columns

    def _check(self, query: str) -> None:
        """Exactly one SELECT: whatever else DuckDB can do is no question."""
        try:
            statements = self._opened().extract_statements(query)
        except Exception as error:
            raise self.in_words(error) from error
        if not statements:
            raise InvalidRequest(
                "there is no query", hint="agent-shell sessions sql 'SELECT status, count(*) FROM goals GROUP BY 1'"
            )
        if len(statements) > 1:
            raise InvalidRequest(f"{len(statements)} statements were given; one is asked at a time")
        if statements[0].type != self._duckdb.StatementType.SELECT:
            raise InvalidRequest("only SELECT can be asked: the logs are never changed by a query")


def load_duckdb() -> Any:
    """The module. Raises ConfigError with how to install it."""
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError(
            "asking the logs in SQL needs DuckDB, which is not installed", hint=install_command("audit")
        ) from error
    return duckdb


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(path: str) -> str:
    """A path as text: a name that is not UTF-8 has its odd bytes replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
