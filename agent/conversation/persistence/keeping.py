"""Have the interviews of a process kept in its database, which is opened when it is first needed and never costs a turn.

The log of a session is written first, and counts. What the database missed, since it could not be reached or the process was killed, it
gets from there with the next turn.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from agent.config.optional_parts import install_command
from agent.protocol.errors import ConfigError, CoreError
from agent.protocol.events.interview import FieldExtracted, InterviewTurned
from agent.protocol.events.session import Warned
from agent.recording.bounds import map_text
from agent.recording.interview_turns import KeptTurn, difference, folded, interview_of, log_hash, with_last
from agent.text.shown import shown_line
from agent.waiting import in_thread

T = TypeVar("T")

if TYPE_CHECKING:
    from agent.conversation.persistence.database import Database
    from agent.conversation.persistence.store import Found, Interview, SqlStore
    from agent.engine.context import RequestContext
    from agent.engine.goal import Goal

State = dict[str, Any]
Work = Callable[["SqlStore"], None]
NOWHERE = "none"
"""As the setting `interview_database`: interviews are in their logs only."""
FILE = "interviews.sqlite3"
"""In the state folder, where no other database is named."""
_PATIENCE = 10
"""It is left alone for so many times as long as it took to fail: one that does not answer must not hold up every turn."""


class ProcessDatabase:
    """The database of a process. Threads may share it."""

    def __init__(self, url: str, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url, self._path, self._clock = url, path, clock
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._failed, self._not_before = "", 0.0

    def opened(self) -> Database:
        """Open it, if that was not done before. Raises CoreError."""
        require()
        from agent.conversation.persistence.database import open_database  # a quarter of a second

        with self._lock:
            if self._database is not None and not self._database.is_there():
                self._close()
            if self._database is None:
                self._database = open_database(self._url, self._path)
            return self._database

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None

    def prepare(self) -> None:
        """Load and open it before it is needed; what fails is said when it is."""
        self.attempt(lambda store: None)

    def find(self, name: str, turn: int | None = None) -> Found | None:
        """Return the interview of that short id or UUID after `turn`, None where it is not kept. Raises CoreError."""
        require()
        from agent.conversation.persistence.store import SqlStore

        return SqlStore(self.opened()).find(name, turn)

    def follow(self, name: str, path: str, project: str) -> str:
        """Keep the interview whose log begins at `path` as that tells it; why it is not, "" where it is. Raises nothing."""

        def work(store: SqlStore) -> None:
            from agent.conversation.persistence.store import Interview

            store.replace(Interview(name=name, log=log_hash(path), project=project), interview_of(path))

        return self.attempt(work)

    def attempt(self, work: Work) -> str:
        """Do `work`; why it was not done, "" where it was. Raises nothing."""
        began = self._clock()
        if began < self._not_before:
            return self._failed
        try:
            require()
            from agent.conversation.persistence.store import SqlStore  # with SQLAlchemy

            work(SqlStore(self.opened()))
        except Exception as error:  # whatever a database, its driver or the disk does: the turn is in the log
            told = error.message if isinstance(error, CoreError) else self._failure(error)
            now = self._clock()
            with self._lock:
                self._close()  # it may be made anew, or be another one, when it is back
                self._failed, self._not_before = shown_line(told, 400), now + _PATIENCE * (now - began)
            return self._failed
        self._failed = ""
        return ""

    def _failure(self, error: Exception) -> str:
        """Name what failed. SQLite says why in words of its own; those of a server may hold what was said, or how it is reached."""
        origin = getattr(error, "orig", None) or error
        reason = str(origin) if isinstance(origin, sqlite3.Error) else type(error).__name__
        return f"the database {'' if self._url else f'{self._path} '}failed: {reason}"


@cache
def database_of(url: str, path: str) -> ProcessDatabase:
    """Return the one of this process."""
    return ProcessDatabase(url, path)


def database_at(url: str, state_dir: str) -> ProcessDatabase | None:
    """Return the database that the setting `interview_database` means, whose default lies in `state_dir`; None where there is none.

    By default there is none where the extra that it needs is not installed, unless there was one before.
    """
    path = os.path.join(state_dir, FILE)
    if url == NOWHERE or not (url or _is_installed() or os.path.exists(path)):
        return None
    return database_of(url, path)


def require() -> None:
    """Raise ConfigError where the extra is not installed that a database of interviews needs."""
    if not _is_installed():
        what = "keeping interviews in a database needs SQLAlchemy, which is not installed"
        raise ConfigError(what, hint=install_command("interviews"))


def _is_installed() -> bool:
    return all(find_spec(name) is not None for name in ("sqlalchemy", "alembic"))


class KeptSession:
    """The interview of one session in the database."""

    def __init__(self, ctx: RequestContext, database: ProcessDatabase, project: str) -> None:
        self._database, self._redactor = database, ctx.redactor
        self._name, self._path = ctx.session_id, ctx.recorder.path or ""
        self._project = project
        self._failing = False
        self._last: tuple[State, State] = ({}, {})  # the last state, as it was and without secrets
        self._about: Interview | None = None

    async def add(
        self,
        goal: Goal,
        before: State,
        after: State,
        understood: tuple[FieldExtracted, ...],
        verification: dict[str, Any] | None,
    ) -> str:
        """Keep the turn that led from one state to the other, and what was missed before; why it is not kept, "" where it is."""

        def work(store: SqlStore) -> None:
            about, earlier, state = self._interview(), *self._states(before, after)
            found = tuple(map(self._redacted, understood))
            turn = KeptTurn(turn=int(state.get("turnNumber", 0)), goal=goal.id, state=state, extractions=found)
            checked = self._redacted(verification)
            if not store.add(about, earlier, turn, checked):
                store.replace(about, with_last(interview_of(self._path), turn), checked)

        return await self._told(goal, work)

    async def follow(self, goal: Goal) -> str:
        """Keep the interview as its log tells it."""
        return await self._told(goal, lambda store: store.replace(self._interview(), interview_of(self._path)))

    async def _told(self, goal: Goal, work: Work) -> str:
        """Say once that the database fails, and once that it does so no more."""
        why = await in_thread(partial(self._database.attempt, work))
        if bool(why) != self._failing:
            self._failing = bool(why)
            said = (
                f"{why}; the interview goes on, and is in its log"
                if why
                else "the database has all of the interview again"
            )
            await goal.events.send(Warned(text=said))
        return why

    def _interview(self) -> Interview:
        from agent.conversation.persistence.store import Interview

        if self._about is None:
            project = self._redactor.redact(self._project)
            self._about = Interview(name=self._name, log=log_hash(self._path), project=project)
        return self._about

    def _states(self, before: State, after: State) -> tuple[State, State]:
        """Return both without secrets. As in the log, only what is new is looked through."""
        known, redacted = self._last
        earlier = redacted if known == before else self._redacted(before)
        changed = InterviewTurned(
            turn=0, phase="", completeness=0, difference=self._redacted(difference(before, after))
        )
        later = folded(earlier, changed)
        self._last = (after, later)
        return earlier, later

    def _redacted(self, value: T) -> T:
        return map_text(value, redaction_of(self._redactor))


def redaction_of(redactor: Any) -> Callable[[str, str], str]:
    """Return what takes the secrets out of the text of a field."""
    by_name = getattr(redactor, "redact_field", None)

    def redact(name: str, text: str) -> str:
        return str(by_name(name, text)) if name and by_name else str(redactor.redact(text))

    return redact
