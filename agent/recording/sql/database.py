"""DuckDB over the logs where they lie: read-only, within a fixed memory, and unable to reach any other file or the network."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from agent.protocol.errors import ConfigError, InvalidRequest, IoError
from agent.recording.bounds import MAX_LINE
from agent.recording.sql.columns import line_columns
from agent.recording.sql.long_lines import copy_without_long_lines, longest_line
from agent.recording.sql.sources import Source
from agent.recording.sql.views import definitions

if TYPE_CHECKING:
    import duckdb

DEFAULT_MEMORY = "200MB"
_ROWS = 1_000
_MAX_PATHS = 500


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
        self._sources = sources
        self._memory = memory
        self._too_long = 0
        self._folder = ""
        self._connection: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> LogDatabase:
        try:
            self._folder = os.path.realpath(tempfile.mkdtemp(prefix="agent-shell-sql-"))  # 0700
        except OSError as error:
            raise IoError(f"no folder for temporary files: {error.strerror or error}", hint="set TMPDIR") from error
        try:
            self._connection = self._open()
            self._bind(self._connection)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, query: str) -> Answer:
        """Run one SELECT. Raises InvalidRequest for anything else, and with DuckDB's reason where it cannot be run."""
        connection = self._opened()
        self._check(query)
        try:
            return Answer(self, connection.execute(query))
        except Exception as error:
            raise self.in_words(error) from error

    def write_parquet(self, query: str, path: str) -> int:
        """Run one SELECT into a new file at `path`, which must be in `self.folder`; how many rows. Raises like `ask`."""
        connection = self._opened()
        self._check(query)
        try:
            # A line end, so that a comment at the end of the query does not swallow the bracket; it is one SELECT, as was checked.
            text = query.strip().rstrip(";")
            copied = connection.execute(
                f"COPY (\n{text}\n) TO {_quoted(path)} (FORMAT parquet, COMPRESSION zstd)"
            ).fetchone()
        except Exception as error:
            raise self.in_words(error) from error
        return int(copied[0]) if copied else 0

    @property
    def folder(self) -> str:
        """The private folder for temporary files."""
        return self._folder

    def ignored(self) -> int:
        """How many lines are no events and so are in no view but `lines`. Reads the logs once more, one column of them."""
        try:
            row = self._opened().execute("SELECT count(*) FROM _types WHERE type IS NULL").fetchone()
        except Exception as error:
            raise self.in_words(error) from error
        return self._too_long + (int(row[0]) if row else 0)

    def interrupt(self) -> None:
        """End the running query, from another thread."""
        if self._connection is not None:
            self._connection.interrupt()

    def in_words(self, error: Exception) -> Exception:
        """What DuckDB says, for people."""
        text = str(error)
        if isinstance(error, self._duckdb.OutOfMemoryException):
            return IoError(
                f"the query needs more than {self._memory} of memory",
                hint="give it more with --memory-limit, or ask for fewer columns",
            )
        if isinstance(error, self._duckdb.InterruptException):
            return InvalidRequest("the query was interrupted")
        if isinstance(error, self._duckdb.PermissionException):
            return InvalidRequest(
                "a query can read the views, and no other file", hint="`agent-shell sessions sql --schema` lists them"
            )
        if isinstance(error, self._duckdb.IOException):
            return IoError(
                f"a log cannot be read: {text.strip().splitlines()[0]}" if text.strip() else "a log cannot be read"
            )
        if isinstance(error, self._duckdb.Error):
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
            "temp_directory": os.path.join(self._folder, "spill"),
            "threads": min(os.cpu_count() or 1, 2),  # each has buffers of its own
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "python_enable_replacements": "false",
            "enable_external_file_cache": "false",  # each log is read once a query
        }
        try:
            connection: duckdb.DuckDBPyConnection = self._duckdb.connect(":memory:", config=options)
        except self._duckdb.Error as error:
            raise ConfigError(
                f"--memory-limit {self._memory}: DuckDB does not take it", hint="such as 200MB or 2GB"
            ) from error
        return connection

    def _bind(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the views; after that nothing but the logs and the private folder can be reached, and no setting be changed."""
        links = os.path.join(self._folder, "logs")
        os.mkdir(links, 0o700)
        listing = os.path.join(self._folder, "sources.jsonl")
        with open(listing, "wb") as file:
            for place, source in enumerate(self._sources):
                link = self._linked(links, place, source)
                file.write(
                    msgspec.json.encode([link, source.machine, _text(source.path), source.session or None]) + b"\n"
                )
        columns = "columns = {'s': 'VARCHAR[]'}, format = 'newline_delimited', records = false"
        connection.execute(
            "CREATE TEMP TABLE _sources AS SELECT s[1] AS link, s[2] AS machine, s[3] AS file, s[4] AS session "
            f"FROM read_json({_quoted(glob.escape(listing))}, {columns})"
        )
        self._jail(connection)
        scans = _Scans(links if self._sources else "")
        for statement in definitions(scans.keys, scans.objects()):
            connection.execute(statement)

    def _jail(self, connection: duckdb.DuckDBPyConnection) -> None:
        """The logs and the private folder, and nothing else.

        DuckDB looks through the whole list of paths for each file it opens, so that of very many logs the folders are allowed.
        """
        paths = [os.path.realpath(source.path) for source in self._sources]
        folders = [self._folder + "/"]
        if len(paths) > _MAX_PATHS:
            folders += [folder + "/" for folder in dict.fromkeys(os.path.dirname(path) for path in paths)]
            paths = []
        connection.execute(f"SET allowed_directories = [{', '.join(map(_quoted, folders))}]")
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, paths))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def _linked(self, links: str, place: int, source: Source) -> str:
        """A link to a log under a name that no pattern character can be in: DuckDB would take a path for a pattern."""
        link = os.path.join(links, f"{place:06d}.jsonl")
        if source.size > MAX_LINE and longest_line(source.path) > MAX_LINE:
            self._too_long += copy_without_long_lines(source.path, link)
        else:
            os.symlink(source.path, link)
        return link

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
            "asking the logs in SQL needs DuckDB, which is not installed", hint="pip install 'agent-shell[audit]'"
        ) from error
    return duckdb


class _Scans:
    """FROM items that read the files in `folder` themselves; nothing where it is "".

    What a column cannot hold is NULL, and so is a whole line that is no JSON object. A pattern stands for the files: to parse a list of
    thousands, at every query, takes longer than to read them.
    """

    def __init__(self, folder: str) -> None:
        self._files = _quoted(os.path.join(glob.escape(folder), "*.jsonl")) if folder else ""

    def keys(self, names: Iterable[str]) -> str:
        kinds = line_columns()
        if not self._files:
            nothing = ", ".join(f'NULL::{kinds[name]} AS "{name}"' for name in names)
            return f"(SELECT {nothing}, NULL::VARCHAR AS filename WHERE false)"
        columns = ", ".join(f"{_quoted(name)}: {_quoted(kinds[name])}" for name in names)
        return f"read_json({self._files}, columns = {{{columns}}}, records = true, {_OPTIONS})"

    def objects(self) -> str:
        if not self._files:
            return "(SELECT NULL::JSON AS json, NULL::VARCHAR AS filename WHERE false)"
        return f"read_json_objects({self._files}, {_OPTIONS})"


_OPTIONS = f"filename = true, format = 'newline_delimited', ignore_errors = true, maximum_object_size = {MAX_LINE}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(path: str) -> str:
    """A path as text: a name that is not UTF-8 has its odd bytes replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
