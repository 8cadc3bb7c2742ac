"""Helpers that list, search and stats share: the index with its messages to the person, styles, and short forms."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from agent.config.paths import state_dir
from agent.emitters.paint import paint, seconds
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import session_folder
from agent.frontends.shown import shown_line
from agent.protocol.errors import IoError
from agent.text.sizes import size_words

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services
    from agent.recording.index.database import Database
    from agent.recording.index.purpose import Purpose
    from agent.recording.reader import SessionFile

T = TypeVar("T")

STATUSES = (
    "completed", "answered", "failed", "cancelled", "skipped", "planner_error", "blocked_by_policy", "budget_exhausted",
    "interrupted", "handed_off", "running", "pruned",
)  # fmt: skip
LEVELS = ("low", "medium", "high")
_STATUS_STYLES = {
    "completed": "green", "answered": "green", "failed": "red", "planner_error": "red", "budget_exhausted": "red",
    "interrupted": "red", "blocked_by_policy": "yellow", "skipped": "yellow", "cancelled": "yellow", "running": "cyan",
}  # fmt: skip
_RISK_STYLES = {"high": "red", "medium": "yellow", "low": "dim"}


def add_rebuild(parser: argparse.ArgumentParser) -> None:
    """The option `--rebuild`."""
    parser.add_argument("--rebuild", action="store_true", help="make the index of the logs anew first")


def ask_index(
    services: Services,
    options: argparse.Namespace,
    question: Callable[[Database, str], T],
    purpose: Purpose,
    *,
    seconds: float | None = None,
    enough: Callable[[T, list[SessionFile]], bool] | None = None,
) -> T:
    """What `question(database, folder)` finds in the index, brought up to date first, for `seconds` at most (None: as long as it takes).
    `purpose` is what the question needs, and whether an answer is `enough` is asked where it may not be.

    Raises IoError where logs cannot be read.
    """
    try:
        from agent.recording.index.access import LogIndex
    except ImportError as error:
        raise IoError(
            f"this Python has no SQLite ({error})", hint="use a Python that was built with the module sqlite3"
        ) from None
    folder = session_folder(services)
    progress = _Progress(sink_of(sys.stderr))
    with LogIndex(folder, state_dir(services.loaded.environ), told=progress.told) as index:
        answer = index.ask(
            lambda database: question(database, folder),
            rebuild=options.rebuild,
            seconds=seconds,
            purpose=purpose,
            enough=enough,
        )
        progress.end()
        for note in index.notes:
            say(shown_line(note, 500))
    return answer


FIRST_READ = 40
"""How many sessions are read first where no index is kept and the answer is of a limited length."""


def all_older(unread: list[SessionFile], at: int) -> bool:
    """Tell whether all these sessions ended before a time (microseconds since the epoch), so that nothing of them comes before it."""
    from agent.recording.index.purpose import ended_before

    return all(ended_before(session, at) for session in unread)


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


def folder_asked(path: str | None) -> str:
    """An absolute folder for `--cwd`, "" for none."""
    return os.path.abspath(os.path.expanduser(path)) if path else ""
