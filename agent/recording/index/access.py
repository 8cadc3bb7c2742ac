"""Ask the index, which is never the truth: where it is missing, damaged or locked it is made anew or gone around, for one purpose."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from msgspec import Struct, structs

from agent.recording.disk import without_links
from agent.recording.index.database import Database, discard, in_memory, may_be_damage, open_database
from agent.recording.index.update import Told, unread, update
from agent.recording.line import microseconds
from agent.recording.reader import SessionFile

_LAST_BYTES = 4096
_TIMES = re.compile(rb'"time": ?"([0-9T:.+-]{19,32}Z?)"')


class Purpose(Struct, frozen=True, kw_only=True, dict=True):
    """One question. `newest`: so many of the sessions that were written last are enough (0: all). `since`: what ended before does not
    matter (microseconds since the epoch). `texts`: whether messages and outputs are looked at, and `words` that are looked up in them.
    """

    newest: int = 0
    since: int = 0
    texts: bool = False
    words: tuple[str, ...] = ()

    @property
    def full_text(self) -> bool:
        """Tell whether words are looked up by SQLite: else its index of words would be made for nothing."""
        return any(is_looked_up(word) for word in self.words)

    def widened(self) -> Purpose:
        """The same for more sessions."""
        return structs.replace(self, newest=self.newest * 4)

    def chosen(self, sessions: list[SessionFile]) -> tuple[list[SessionFile], list[SessionFile]]:
        """The sessions that have to be read, in their order, and those that are left unread but may be listed."""
        if self.since:
            sessions = [session for session in sessions if not ended_before(session, self.since)]
        if not self.newest or len(sessions) <= self.newest:
            return sessions, []
        newest = sorted(sessions, key=lambda session: session.by_writing)[-self.newest :]
        read = {session.path for session in newest}
        return newest, [session for session in sessions if session.path not in read]

    def wants(self, *texts: str) -> bool:
        """Tell whether a goal with these texts may be an answer. Where other letters than ASCII's stand in them, SQLite decides."""
        if not self._parts:
            return self.texts
        text = "\n".join(texts)
        if not text.isascii():
            return True
        text = text.lower()
        return all(part in text for part in self._parts)

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        """Return what each text that has the words surely has in it, in lower case."""
        plain = (word.lower() for word in self.words if word.isascii() and is_looked_up(word))
        return tuple({part for word in plain for part in re.findall("[a-z0-9]+", word)})


def ended_before(session: SessionFile, since: int) -> bool:
    """Tell whether nothing in it is as late as that (microseconds since the epoch), by the time of its files and by what stands at its end:
    either may be wrong alone.
    """
    if session.modified * 1e6 >= since:
        return False
    try:
        with open(session.files[-1], "rb", opener=without_links) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
            times = _TIMES.findall(file.read(_LAST_BYTES))
    except OSError:
        return False
    found = [at for time in times if (at := microseconds(time.decode())) is not None]
    return bool(found) and max(found) < since


def is_looked_up(word: str) -> bool:
    """Tell whether the full-text index knows such words: those of scripts that do not set blanks between them it does not."""
    return bool(re.search(r"[^\W_]", word)) and not re.search(
        "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0eff]", word
    )


T = TypeVar("T")

STALE = "another process is busy with the index of the sessions; what was recorded last may be missing here"


class LogIndex:
    """The index of the logs in `folder`; `state` is where it goes if it cannot lie beside them ("" for nowhere).

    `notes` collects what a person may want to know, in words. Use it in one thread at a time; close it.
    """

    def __init__(self, folder: str, state: str, *, told: Told | None = None) -> None:
        self.notes: list[str] = []
        self._folder = folder
        self._state = state
        self._progress = told
        self._database: Database | None = None

    def __enter__(self) -> LogIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def place(self) -> str:
        """The path of its file, "" where it is in memory or not open."""
        return self._database.place if self._database is not None else ""

    def ask(
        self,
        question: Callable[[Database], T],
        *,
        rebuild: bool = False,
        fresh: bool = True,
        stop: Callable[[], bool] | None = None,
        seconds: float | None = None,
        purpose: Purpose | None = None,
        enough: Callable[[T, list[SessionFile]], bool] | None = None,
    ) -> T:
        """The answer to `question`, after the index took in what is new (`fresh`). Raises IoError where the logs cannot be read.

        Where that takes longer than `seconds`, the answer comes from what was read by then; `database.left` says what was not.
        `purpose` says what the question needs, so that no more is read where no index can be kept (None: it needs all).
        Where that are the newest sessions, and the answer is not `enough` with those unread that it is called with, more are read.
        `question` may be asked again after a repair, so it must give all of its answer at the end.
        """

        def told(database: Database) -> T:
            self._bring_up_to_date(database, fresh, stop, seconds)
            answer = question(database)
            while enough is not None and database.purpose is not None and database.left and fresh:
                if not database.purpose.newest or (stop is not None and stop()) or enough(answer, database.left):
                    break
                database.purpose = database.purpose.widened()  # what was read before is not read again
                self._bring_up_to_date(database, fresh, stop, seconds)
                answer = question(database)
            return answer

        try:
            return told(self._open(purpose, rebuild=rebuild))
        except sqlite3.Error as error:
            place, damaged, why = self.place, may_be_damage(error), f"{self.place}: {error}"
            self.close()
        # It is damaged below the surface: once more from nothing, and if that does not help, without a file.
        fresh = True
        try:
            if damaged and discard(place):
                return told(self._open(purpose))
        except sqlite3.Error:
            self.close()
        self._database = in_memory(purpose, why)
        return told(self._database)

    def close(self) -> None:
        """Give up the file; it is opened again when it is asked again."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self, purpose: Purpose | None, *, rebuild: bool = False) -> Database:
        if rebuild or (self._database is not None and not self._database.place and self._database.purpose != purpose):
            self.close()
        if self._database is None:
            self._database = open_database(self._folder, self._state, rebuild=rebuild, purpose=purpose)
        return self._database

    def _bring_up_to_date(
        self, database: Database, fresh: bool, stop: Callable[[], bool] | None, seconds: float | None
    ) -> None:
        database.left = []
        if not fresh:
            return
        if database.why:
            self.notes.append(f"no index of the sessions is kept, so each call reads logs anew: {database.why}")
            database.why = ""
        try:
            database.left = update(database, self._folder, told=self._progress, stop=stop, seconds=seconds)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                self.notes.append(STALE)
            elif seconds is None or may_be_damage(error):
                raise
            else:  # no room: what it has, and the ends of the logs, are enough for an early answer
                database.left = unread(database, self._folder)
                self.notes.append(f"the index of the sessions cannot be written: {error}")
