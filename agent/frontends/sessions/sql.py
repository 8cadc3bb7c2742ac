"""`agent-shell sessions sql`: ask the logs, of this machine or of many, with a SELECT."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agent.audit.sql.database import DEFAULT_MEMORY, Answer, LogDatabase
from agent.audit.sql.sources import find_sources
from agent.audit.sql.views import views
from agent.emitters.console import complain, print_rows
from agent.emitters.streamed_table import write_csv, write_json_lines, write_table
from agent.emitters.streams import FdSink, Sink, sink_of
from agent.frontends.session_naming import session_folder
from agent.frontends.sessions.export import private_file
from agent.protocol.errors import InvalidRequest

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services

FORMATS = ("table", "csv", "json", "parquet")
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "REAL")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The query, where the logs are, and how the answer is written."""
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="one SELECT over sessions, goals, commands, outputs, events"
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="log files, folders or quoted patterns; default: your own logs"
    )
    parser.add_argument("--format", choices=FORMATS, help="table (default), csv, json (one object a line) or parquet")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the answer to this file, readable by you alone")
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        default=DEFAULT_MEMORY,
        help=f"memory for the query (default: {DEFAULT_MEMORY})",
    )
    parser.add_argument(
        "-x", "--expanded", action="store_true", help="one line per column, as on a terminal where columns do not fit"
    )
    parser.add_argument("--schema", action="store_true", help="list the views and their columns")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Answer the query; the exit code. Ctrl-C ends it."""
    wanted = options.format or ("json" if services.settings.json else "table")
    if options.schema:
        return _print_schema(json=wanted == "json")
    if not options.query:
        raise InvalidRequest(
            "there is no query", hint="agent-shell sessions sql 'SELECT status, count(*) FROM goals GROUP BY 1'"
        )
    if options.expanded and wanted != "table":
        raise InvalidRequest(f"--expanded is a form of the table, and {wanted} has none", hint="leave one of them out")
    if wanted == "parquet" and not options.output and os.isatty(sys.stdout.fileno()):
        raise InvalidRequest("Parquet is not for a terminal", hint="name a file with -o")
    sources = find_sources(options.paths, default=session_folder(services), here=os.uname().nodename)
    database = LogDatabase(sources, memory=options.memory_limit)
    with _ending(database.interrupt) as ended_by:
        try:
            await asyncio.to_thread(
                _answer, database, options.query, "expanded" if options.expanded else wanted, options.output
            )
        except asyncio.CancelledError:
            database.interrupt()
            raise
        except InvalidRequest:
            if not ended_by:
                raise
    return 128 + ended_by[0] if ended_by else 0


@contextmanager
def _ending(stop: Callable[[], None]) -> Iterator[list[signal.Signals]]:
    """While this lasts, a signal that ends programs calls `stop`, so that no copy is left behind; a second one ends at once."""
    loop = asyncio.get_running_loop()
    ended_by: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        ended_by.append(number)
        stop()
        for each in installed:
            loop.remove_signal_handler(each)

    endings = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    installed = [number for number in endings if signal.getsignal(number) is not signal.SIG_IGN]
    for number in installed:
        loop.add_signal_handler(number, end, number)
    try:
        yield ended_by
    finally:
        for number in installed:
            loop.remove_signal_handler(number)


def _answer(database: LogDatabase, query: str, wanted: str, output: str | None) -> None:
    with database:
        if wanted == "parquet":
            _parquet(database, query, output)
        else:
            answer = database.ask(query)
            try:
                with _sink(output) as sink:
                    _written(answer, wanted, sink)
            except MemoryError as error:  # a value that could be had, and not be written
                raise database.in_words(error) from error
        if ignored := database.ignored():
            lines = "1 line is no event and is" if ignored == 1 else f"{ignored:,} lines are no events and are"
            complain(
                f"agent-shell: {lines} not in the answer; `agent-shell sessions verify` tells which", style="yellow"
            )


def _written(answer: Answer, wanted: str, sink: Sink) -> int:
    if wanted == "csv":
        return write_csv(answer.columns, answer.rows(), sink)
    if wanted == "json":
        return write_json_lines(answer.columns, answer.rows(), sink)
    numeric = [any(word in kind for word in _NUMBERS) and "[" not in kind for kind in answer.types]
    return write_table(answer.columns, numeric, answer.rows(), sink, expanded=wanted == "expanded")


def _parquet(database: LogDatabase, query: str, output: str | None) -> None:
    made = os.path.join(database.folder, "answer.parquet")
    database.write_parquet(query, made)
    with open(made, "rb") as file, _sink(output) as sink:
        while block := file.read(1 << 20):
            sink.write(block)


@contextmanager
def _sink(output: str | None) -> Iterator[Sink]:
    """Standard output, or a private file that takes its place only when all of it was written."""
    if output is None or output == "-":
        yield sink_of(sys.stdout)
        return
    with private_file(output, force=True) as file:
        yield FdSink(file.fileno(), is_tty=False, color=False)


def _print_schema(*, json: bool) -> int:
    rows: list[dict[str, Any]] = [
        {"view": view, "column": column.name, "type": column.type, "meaning": column.meaning}
        for view, columns in views().items()
        for column in columns
    ]
    print_rows(rows, json=json, out=sink_of(sys.stdout))
    return 0
