"""Share what the actions on many sessions have in common: options, questions to the logs, tables, the person's yes, short forms."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent.config.paths import state_dir
from agent.emitters.console import complain
from agent.emitters.paint import cell_width, cut_to_width, paint
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import session_folder
from agent.protocol.errors import IoError
from agent.text.shown import shown_line
from agent.text.sizes import seconds, size_words
from agent.text.times import add_times

if TYPE_CHECKING:
    import argparse

    from agent.audit.queries.conditions import Conditions
    from agent.audit.queries.service import LogQueries
    from agent.frontends.services import Services
    from agent.recording.integrity.log_proof import Signer


_GAP = 2
_LEAST_FLEXIBLE = 20
_LEAST_AT_ALL = 4


class Cell(Struct, frozen=True):
    """Text that is safe to show, and its style ("" for none)."""

    text: str
    style: str = ""


class Column(Struct, frozen=True):
    """One column. `drop`: where there is no room the highest goes first, 0 stays. The `flexible` one takes the room that is left."""

    name: str
    title: str
    drop: int = 0
    right: bool = False
    flexible: bool = False


def print_table(rows: Sequence[Mapping[str, Cell]], columns: Sequence[Column], out: Sink) -> None:
    """Print a heading and the rows. Raises EmitError."""
    room = out.size()[0] if out.is_tty else 0
    shown = [column for column in columns if any(row[column.name].text for row in rows) or column.flexible]
    widths = {
        column.name: max(cell_width(column.title), *(cell_width(row[column.name].text) for row in rows))
        for column in shown
    }
    flexible = next((column.name for column in shown if column.flexible), "")
    if room:
        while (left := room - _fixed(shown, widths, flexible)) < min(_LEAST_FLEXIBLE, widths.get(flexible, 0)):
            least = max(shown, key=lambda column: column.drop)
            if not least.drop:
                break
            shown.remove(least)
        if flexible:
            widths[flexible] = max(_LEAST_AT_ALL, min(left, widths[flexible]))
    heading = {column.name: Cell(column.title, "bold") for column in shown}
    text = "\n".join(_line(row, shown, widths, out) for row in [heading, *rows])
    out.write((text + "\n").encode("utf-8", "replace"))


def _fixed(columns: Sequence[Column], widths: Mapping[str, int], flexible: str) -> int:
    return sum(widths[column.name] for column in columns if column.name != flexible) + _GAP * (len(columns) - 1)


def _line(row: Mapping[str, Cell], columns: Sequence[Column], widths: Mapping[str, int], out: Sink) -> str:
    parts = []
    for column in columns:
        cell = row[column.name]
        text = cut_to_width(cell.text, widths[column.name])
        space = " " * (widths[column.name] - cell_width(text))
        painted = paint(text, cell.style, color=out.color) if cell.style else text
        last = column is columns[-1]
        parts.append(space + painted if column.right else painted + ("" if last else space))
    return (" " * _GAP).join(parts).rstrip()


STATUSES = (
    "completed", "answered", "failed", "cancelled", "skipped", "planner_error", "blocked_by_policy", "budget_exhausted",
    "interrupted", "handed_off", "not_understood", "running", "pruned",
)  # fmt: skip
LEVELS = ("low", "medium", "high")
_STATUS_STYLES = {
    "completed": "green", "answered": "green", "failed": "red", "planner_error": "red", "budget_exhausted": "red",
    "interrupted": "yellow", "blocked_by_policy": "yellow", "skipped": "yellow", "cancelled": "yellow", "not_understood": "yellow",
    "running": "cyan",
}  # fmt: skip
_RISK_STYLES = {"high": "red", "medium": "yellow", "low": "dim"}


def add_conditions(parser: argparse.ArgumentParser, *, of_rows: bool = True) -> None:
    """The options that list, search and stats share; those on single rows only `of_rows`."""
    add_times(parser, until=True)
    parser.add_argument("--cwd", metavar="DIR", help="only what was asked for in this folder or below it")
    if of_rows:
        parser.add_argument(
            "--status", metavar="S", action="append", choices=STATUSES, default=[],
            help=f"only with a goal that ended so; can be given again: {', '.join(STATUSES)}",
        )  # fmt: skip
        parser.add_argument(
            "--limit", metavar="N", type=limit_of, help="how many at most, 0 for all (20; with --json all)"
        )
    parser.add_argument("--rebuild", action="store_true", help="rebuild the index of the logs first")


def limit_of(text: str) -> int:
    """A number from 0 on. Raises ValueError."""
    number = int(text)
    if number < 0:
        raise ValueError
    return number


limit_of.__name__ = "number"


def conditions_of(options: argparse.Namespace, **more: Any) -> Conditions:
    """Build the conditions that these options ask for; `more` fields of it beside."""
    from agent.audit.queries.conditions import Conditions

    cwd = os.path.abspath(os.path.expanduser(options.cwd)) if options.cwd else ""
    return Conditions(since=options.since or 0, until=options.until or 0, cwd=cwd, **more)


def limit_asked(options: argparse.Namespace, *, json: bool) -> int:
    """The most rows to show, 0 for all."""
    return int(options.limit) if options.limit is not None else 0 if json else 20


@contextmanager
def asking(services: Services, options: argparse.Namespace) -> Iterator[LogQueries]:
    """Questions to the logs, with their messages to the person. Raises IoError where this Python cannot do it."""
    try:
        from agent.audit.queries.service import LogQueries
    except ImportError as error:
        raise IoError(
            f"this Python has no SQLite ({error})", hint="use a Python that was built with the module sqlite3"
        ) from None
    progress = _Progress(sink_of(sys.stderr))
    state = state_dir(services.loaded.environ)
    with LogQueries(session_folder(services), state, told=progress.told, rebuild=options.rebuild) as queries:
        yield queries
        progress.end()
        for note in queries.notes:
            say(shown_line(note, 500))


def say(text: str) -> None:
    """A line about the answer, beside it: on standard error."""
    out = sink_of(sys.stderr)
    out.write((paint(text, "dim", color=out.color) + "\n").encode("utf-8", "replace"))


class _Progress:
    """On a terminal, where reading takes longer than a moment: how far it is."""

    def __init__(self, out: Sink) -> None:
        self._out = out
        self._shown = False

    def told(self, done: int, of: int) -> None:
        """`done` of so many bytes; nothing is said before the first piece of work is done."""
        if self._out.is_tty and 0 < done < of:
            self._shown = True
            words = f"reading {size_words(of)} of logs for the index: {done * 100 // of} %"
            self._out.write(f"\r\x1b[K{words} ".encode())

    def end(self) -> None:
        if self._shown:
            self._out.write(b"\r\x1b[K")


def status_style(status: str) -> str:
    return _STATUS_STYLES.get(status, "")


def risk_style(risk: str) -> str:
    return _RISK_STYLES.get(risk, "")


def money(cost: float | None) -> str:
    """`$0.0123`, `$3.21`, "" where nobody knows or it cost nothing."""
    if not cost:
        return ""
    return f"${cost:.4f}" if cost < 0.1 else f"${cost:,.2f}"


def took(duration: float) -> str:
    return seconds(duration) if duration else ""


def heads_of(services: Services) -> str:
    """The folder in which this machine keeps the heads of logs."""
    return os.path.join(state_dir(services.loaded.environ), "heads")


def forget(services: Services, paths: Iterable[str]) -> None:
    """Have the database forget the interviews of the logs at `paths`, which are about to be changed. Raises IoError."""
    from agent.conversation.persistence.forgetting import forget_interviews

    forget_interviews(services.settings.interview_database, state_dir(services.loaded.environ), paths)


def signer_of(services: Services) -> Signer | None:
    """Build the signer for a log that is rewritten, where logs are signed."""
    if not services.settings.sign_key:
        return None
    from agent.recording.integrity.signing import signer_with

    return signer_with(services.settings.sign_key, heads_of(services))


async def agreed(question: str, *, can_ask: bool, otherwise: str, declined: str) -> bool:
    """The person's yes to what cannot be taken back. Where nobody can be asked, `otherwise` says what to do; `declined` follows a no."""
    if not can_ask or not sys.stdin.isatty():
        complain(f"agent-shell: nobody is there to ask; {otherwise}")
        return False
    from agent.frontends.confirm.questions import ask_yes
    from agent.frontends.screen import open_screen

    if await ask_yes(open_screen(), f"{question} It cannot be taken back."):
        return True
    complain(declined)
    return False
