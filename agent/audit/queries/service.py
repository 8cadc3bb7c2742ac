"""Answer what front ends ask of the logs: sessions, goals, a search, figures, what was asked before, the story of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from agent.audit.queries.conditions import Conditions
from agent.audit.queries.figures import Entry, figures, past
from agent.audit.queries.listing import goals, named, sessions, without_goals
from agent.audit.queries.search import Found, search
from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import LogIndex
from agent.recording.index.database import Database
from agent.recording.index.update import Told

T = TypeVar("T")


class LogQueries:
    """Questions to the logs in `folder`, a context manager; `state` is the state folder. What is new in the logs is taken in first.

    `told(done, of)` is called meanwhile with numbers of bytes. `rebuild`: the index is made anew for the first question. `notes`: what a
    person may want to know, in words. Questions raise IoError where logs cannot be read.
    """

    def __init__(self, folder: str, state: str, *, told: Told | None = None, rebuild: bool = False) -> None:
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

    def sessions(self, wanted: Conditions, limit: int = 0) -> list[dict[str, Any]]:
        """As `listing.sessions`, with one more than `limit` where there are more."""
        most = limit + 1 if limit else 0
        return self._ask(lambda database: sessions(database, self._folder, wanted, most))

    def without_goals(self, wanted: Conditions) -> int:
        """Count sessions that `wanted.with_goals` leaves out."""
        return self._ask(lambda database: without_goals(database, wanted))

    def named(self, name: str) -> tuple[str, ...]:
        """The ids of the sessions of that name, what was written last first."""
        return self._ask(lambda database: named(database, name))

    def goals(self, wanted: Conditions, limit: int = 0) -> list[dict[str, Any]]:
        """As `listing.goals`, with one more than `limit` where there are more."""
        most = limit + 1 if limit else 0
        return self._ask(lambda database: goals(database, self._folder, wanted, most))

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
        return self._ask(
            lambda database: search(
                database, self._folder, words, wanted, pattern=pattern, limit=limit, seconds=seconds, numbered=numbered
            )
        )

    def figures(self, wanted: Conditions) -> dict[str, Any]:
        """As `figures.figures`."""
        return self._ask(lambda database: figures(database, wanted))

    def past(self, *, fresh: bool = True, stop: Callable[[], bool] | None = None) -> list[Entry]:
        """As `figures.past`; not `fresh`: what is known by now. `stop` ends the reading of logs."""
        return self._index.ask(past, fresh=fresh, stop=stop)

    def _ask(self, question: Callable[[Database], T]) -> T:
        rebuild, self._rebuild = self._rebuild, False
        return self._index.ask(question, rebuild=rebuild)
