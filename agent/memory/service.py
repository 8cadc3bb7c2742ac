"""Ask the memory of one process: brought up to date in the background, never waited for long, and never needed.

Whatever goes wrong with it, there is none: a goal must not fail because nothing could be remembered.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from agent.memory import asking
from agent.memory.asking import Place
from agent.memory.comparing import shape_of
from agent.memory.files import Forgotten, NoMemory, is_busy, open_file, remove_file
from agent.memory.model import Experience, GoalWords, ReadGoal, Remembered, Worked
from agent.memory.refresh import PIECE_SECONDS, Refresher, drop_unused, is_own_folder, note_forgotten
from agent.protocol.errors import InvalidState
from agent.recording.index.access import LogIndex
from agent.recording.private_database import OpenDatabase, transaction

T = TypeVar("T")

LEAVE_SECONDS = 0.3
_MOST_PIECES = 10_000


class Memory:
    """The memory of the logs in `folder`; `state` is the state folder.

    `read` makes goals comparable, `worked` says what an exit code means. `project(cwd)` is the top of the project that a folder
    belongs to, "" where it is in none. `now` gives microseconds since the epoch.
    """

    def __init__(
        self,
        folder: str,
        state: str,
        *,
        read: ReadGoal,
        worked: Worked,
        project: Callable[[str], str] = lambda cwd: "",
        now: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        real = os.path.realpath(folder)
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
        self.path = os.path.join(state, "memory", f"{name}.sqlite3")
        self._folder = real
        self._state = state
        self._read = read
        self._worked = worked
        self._project = project
        self._now = now
        self._forgotten_path = os.path.join(state, "memory", f"{name}.forgotten")
        self._file: OpenDatabase | None = None
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._stopping = threading.Event()

    # --- up to date ---

    def refresh(self, wait: float) -> bool:
        """Take in what the logs hold by now; waits at most `wait` seconds. Whether it is done."""
        with self._starting:
            if self._stopping.is_set():
                return False
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._refresh, name="memory", daemon=True)
                self._worker.start()
            worker = self._worker
        worker.join(wait)
        return not worker.is_alive()

    def _refresh(self) -> None:
        for _ in range(2):  # once more from nothing where the file is damaged below the surface
            try:
                self._take_in()
                return
            except sqlite3.Error as error:
                if is_busy(error):
                    return
                with self._lock:
                    self._close_file()
                if not remove_file(self.path):
                    return
            except Exception:  # whatever it is: there is no memory then, and nothing else is wrong
                return

    def _take_in(self) -> None:
        if not is_own_folder(self._folder):
            return
        file = open_file(self.path)
        try:
            refresher = Refresher(
                file.connection,
                self._folder,
                os.path.join(self._state, "heads"),
                read=self._read,
                worked=self._worked,
                forgotten=Forgotten(self._forgotten_path),
                stop=self._stopping.is_set,
            )
            with LogIndex(self._folder, self._state) as index:
                for _ in range(_MOST_PIECES):
                    whole = index.ask(refresher.take_in, stop=self._stopping.is_set, seconds=PIECE_SECONDS)
                    if whole or self._stopping.is_set():
                        return
        finally:
            file.close()

    # --- asked ---

    def for_goal(self, words: GoalWords, cwd: str) -> tuple[list[Remembered], list[Remembered]]:
        """Commands for this very goal, and for the same words with other literals; the best first."""
        place = self._place(cwd)
        nothing: tuple[list[Remembered], list[Remembered]] = ([], [])
        return self._ask(lambda connection: asking.same_goal(connection, words, place), nothing)

    def like_goal(self, words: GoalWords, cwd: str, *, least: float, most: int) -> list[Remembered]:
        """Commands for goals that share at least `least` of their concepts with this one."""
        place = self._place(cwd)
        return self._ask(lambda connection: asking.like_goal(connection, words, place, least=least, most=most), [])

    def experience(self, command: str, cwd: str) -> Experience:
        """Return how commands of this shape went."""
        shape, place = shape_of(command), self._place(cwd)
        nothing = Experience()
        return self._ask(lambda connection: asking.experience(connection, shape, place), nothing) if shape else nothing

    def latest(self, cwd: str, *, words: Sequence[str] = (), since: int = 0, most: int = 50) -> list[Remembered]:
        """Return what was taught last; with `words`, what holds all of them."""
        place = self._place(cwd)
        return self._ask(lambda connection: asking.latest(connection, place, words=words, since=since, most=most), [])

    def size(self) -> tuple[int, int]:
        """Return how many commands are remembered, and how many runs counted."""
        return self._ask(asking.size, (0, 0))

    # --- forgetting ---

    def forget(self, items: Sequence[Remembered]) -> None:
        """Forget these commands for such goals, in all their runs so far. A new run teaches again. Raises IoError, InvalidState."""
        pairs = [(item.key, item.command) for item in items]
        if pairs:
            self._forget(lambda list_: list_.add(pairs, until=self._now()))

    def forget_all(self, *, since: int = 0) -> None:
        """Forget everything from `since` on, counts too. Raises IoError, InvalidState."""
        self._forget(lambda list_: list_.add(None, since=since, until=self._now()))

    def _forget(self, note: Callable[[Forgotten], None]) -> None:
        """Note it first: what is then not removed here comes back no more when it is made anew."""
        forgotten = Forgotten(self._forgotten_path)
        note(forgotten)
        self._end_worker()
        try:
            file = open_file(self.path, make=False)
        except NoMemory:
            return
        try:
            _remove_covered(file.connection, forgotten)
        except sqlite3.Error as error:
            if not remove_file(self.path):
                hint = "it is noted as forgotten, and is gone with the next start"
                raise InvalidState(expected="a memory that can be written", found=str(error), hint=hint) from error
        finally:
            file.close()

    def _end_worker(self) -> None:
        """End the worker; what it did so far is kept, and the next refresh goes on from there."""
        with self._starting:
            worker = self._worker
            if worker is None or self._stopping.is_set():
                return
            self._stopping.set()
            worker.join()
            self._stopping.clear()

    # --- the file ---

    def close(self) -> None:
        """Stop what goes on in the background. Never raises."""
        with self._starting:
            self._stopping.set()
        if self._worker is not None:
            self._worker.join(LEAVE_SECONDS)
        with self._lock:
            self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _ask(self, question: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        with self._lock:
            try:
                if not is_own_folder(self._folder):
                    return nothing
                if self._file is None:
                    self._file = open_file(self.path, make=False)
                return question(self._file.connection)
            except Exception:  # likewise; it is opened again the next time
                self._close_file()
                return nothing

    def _place(self, cwd: str) -> Place:
        project = ""
        with suppress(OSError, ValueError):
            project = self._project(cwd)
        return Place(cwd, project, self._now())


def _remove_covered(connection: sqlite3.Connection, forgotten: Forgotten) -> None:
    with transaction(connection):
        query = "SELECT uses.rowid, uses.goal, uses.at, key, command, entry, kind FROM uses JOIN entries ON entries.id = entry"
        covered = [row for row in connection.execute(query) if forgotten.covers(row[3], row[4], row[2])]
        for rowid, goal, at, *_ in covered:
            connection.execute("DELETE FROM uses WHERE rowid = ?", (rowid,))
            connection.execute("DELETE FROM runs WHERE goal = ? AND at = ?", (goal, at))
        entries = [row[5] for row in covered]
        for goal in {
            row[1] for row in covered if row[6] == "taught"
        }:  # what it was taken instead of is no worse any more
            query = "SELECT entry FROM uses WHERE goal = ? AND kind = 'refused'"
            entries += [entry for (entry,) in connection.execute(query, (goal,))]
            connection.execute("DELETE FROM uses WHERE goal = ? AND kind = 'refused'", (goal,))
        drop_unused(connection, entries)
        for rowid, at in connection.execute("SELECT rowid, at FROM runs").fetchall():
            if forgotten.covers("", "", at):
                connection.execute("DELETE FROM runs WHERE rowid = ?", (rowid,))
        note_forgotten(connection, forgotten.stamp)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what was forgotten is not left in the log of the database
