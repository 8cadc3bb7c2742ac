"""Answer what front ends ask of the logs: sessions, goals, a search, figures, what was asked before, the story of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from agent.audit.queries.conditions import Conditions
from agent.audit.queries.figures import Entry, figures, past
from agent.audit.queries.listing import goals, named, sessions, without_goals
from agent.audit.queries.search import MOST_WORDS, Found, search
from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import LogIndex, Purpose, ended_before
from agent.recording.index.database import Database
from agent.recording.index.update import Told
from agent.recording.reader import SessionFile

T = TypeVar("T")

_FIRST_READ = 40
"""The number of sessions that are read first where no index is kept and the answer is of a limited length."""
_QUICK_SECONDS = 1.0
_QUICK_LIMIT = 500
"""The time somebody in a hurry waits for logs that the index has not read yet, and the rows that are told from the logs' two ends then."""


class LogQueries:
    """Questions to the logs in `folder`, a context manager; `state` is the state folder. What is new in the logs is taken in first.

    `told(done, of)` is called meanwhile with numbers of bytes. `rebuild`: the index is made anew for the first question. `notes`: what a
    person may want to know, in words; `is_kept`: what was read need not be read again. Questions raise IoError where logs cannot be read.
    """

    def __init__(self, folder: str, state: str, *, told: Told | None = None, rebuild: bool = False) -> None:
        self.is_kept = True
        self._folder = folder
        self._index = LogIndex(folder, state, told=told)
        self._rebuild = rebuild

    def __enter__(self) -> LogQueries:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()

    @property
    def notes(self) -> list[str]:
        return self._index.notes

    def sessions(self, wanted: Conditions, limit: int = 0, *, in_a_hurry: bool = False) -> list[dict[str, Any]]:
        """As `listing.sessions`, with one more than `limit` where there are more. In a hurry a plain listing may have partial rows."""
        quick = in_a_hurry and not (wanted.cwd or wanted.statuses or self._rebuild) and 0 < limit <= _QUICK_LIMIT
        in_order = not wanted.with_goals and (
            quick or wanted == Conditions()
        )  # those written last are the answer, read or not
        most = limit + 1 if limit else 0
        return self._ask(
            lambda database: sessions(database, self._folder, wanted, most),
            Purpose(since=wanted.since, newest=most if in_order else 0),
            seconds=_QUICK_SECONDS if quick else None,
            enough=lambda rows, unread: in_order or _is_all(rows, most, unread),
        )

    def without_goals(self, wanted: Conditions) -> int:
        """Count sessions that `wanted.with_goals` leaves out, of those that were read so far."""
        return self._ask(lambda database: without_goals(database, wanted), Purpose(), seconds=0.0)

    def named(self, name: str) -> tuple[str, ...]:
        """The ids of the sessions of that name, what was written last first."""
        return self._ask(lambda database: named(database, name), Purpose())

    def goals(self, wanted: Conditions, limit: int = 0) -> list[dict[str, Any]]:
        """As `listing.goals`, with one more than `limit` where there are more."""
        most = limit + 1 if limit else 0
        return self._ask(
            lambda database: goals(database, self._folder, wanted, most),
            Purpose(since=wanted.since, newest=_FIRST_READ if limit else 0),
            enough=lambda rows, unread: _is_all(rows, most, unread),
        )

    def search(
        self,
        words: tuple[str, ...],
        wanted: Conditions,
        *,
        pattern: LinearPattern | None,
        limit: int,
        seconds: float,
        numbered: bool,
    ) -> Found:
        """As `search.search`."""
        purpose = Purpose(since=wanted.since, texts=True, words=words[:MOST_WORDS], newest=_FIRST_READ if limit else 0)
        return self._ask(
            lambda database: search(
                database, self._folder, words, wanted, pattern=pattern, limit=limit, seconds=seconds, numbered=numbered
            ),
            purpose,
            enough=lambda found, unread: found.late or (found.more and _are_older(unread, found.hits[-1].at)),
        )

    def figures(self, wanted: Conditions) -> dict[str, Any]:
        """As `figures.figures`."""
        return self._ask(lambda database: figures(database, wanted), Purpose(since=wanted.since))

    def past(self, *, fresh: bool = True, stop: Callable[[], bool] | None = None) -> list[Entry]:
        """As `figures.past`; not `fresh`: what is known by now. `stop` ends the reading of logs."""
        return self._index.ask(past, fresh=fresh, stop=stop, purpose=Purpose())

    def _ask(
        self,
        question: Callable[[Database], T],
        purpose: Purpose,
        *,
        seconds: float | None = None,
        enough: Callable[[T, list[SessionFile]], bool] | None = None,
    ) -> T:
        def asked(database: Database) -> T:
            self.is_kept = bool(database.place)
            return question(database)

        rebuild, self._rebuild = self._rebuild, False
        return self._index.ask(asked, rebuild=rebuild, seconds=seconds, purpose=purpose, enough=enough)


def _is_all(rows: Sequence[dict[str, Any]], most: int, unread: list[SessionFile]) -> bool:
    return len(rows) == most and _are_older(unread, rows[-1]["began"])


def _are_older(unread: list[SessionFile], at: int) -> bool:
    """Tell whether all these sessions ended before a time (microseconds since the epoch), so that nothing of them comes before it."""
    return all(ended_before(session, at) for session in unread)
