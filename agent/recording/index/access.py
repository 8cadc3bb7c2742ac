"""Ask the index, which is never the truth: where it is missing, damaged or locked it is made anew or gone around."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from agent.recording.index.database import Database, discard, in_memory, may_be_damage, open_database
from agent.recording.index.update import Told, update


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
    ) -> T:
        """The answer to `question`, after the index took in what is new (`fresh`). Raises IoError where the logs cannot be read.

        Where that takes longer than `seconds`, the answer comes from what was read by then.
        `question` may be asked again after a repair, so it must give all of its answer at the end.
        """

        def told(database: Database) -> T:
            self._bring_up_to_date(database, fresh, stop, seconds)
            return question(database)

        try:
            return told(self._open(rebuild=rebuild))
        except sqlite3.Error as error:
            place, damaged, why = self.place, may_be_damage(error), f"{self.place}: {error}"
            self.close()
        # It is damaged below the surface: once more from nothing, and if that does not help, without a file.
        fresh = True
        try:
            if damaged and discard(place):
                return told(self._open())
        except sqlite3.Error:
            self.close()
        self._database = in_memory(why)
        return told(self._database)

    def close(self) -> None:
        """Give up the file; it is opened again when it is asked again."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self, *, rebuild: bool = False) -> Database:
        if rebuild:
            self.close()
        if self._database is None:
            self._database = open_database(self._folder, self._state, rebuild=rebuild)
        return self._database

    def _bring_up_to_date(
        self, database: Database, fresh: bool, stop: Callable[[], bool] | None, seconds: float | None
    ) -> None:
        database.whole = True
        if not fresh:
            return
        if database.why:
            self.notes.append(f"no index of the sessions is kept, so each call reads logs anew: {database.why}")
            database.why = ""
        try:
            database.whole = update(database, self._folder, told=self._progress, stop=stop, seconds=seconds)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                self.notes.append(STALE)
            elif seconds is None or may_be_damage(error):
                raise
            else:  # no room: what it has is enough for an early answer
                database.whole = False
                self.notes.append(f"the index of the sessions cannot be written: {error}")
