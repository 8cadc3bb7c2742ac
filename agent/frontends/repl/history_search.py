"""Search goals and commands of all sessions for Ctrl-R: from the index, read beside the prompt and never waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.frontends.repl.history_match import Past

_REFRESH_SECONDS = 3.0


@dataclass(frozen=True)
class Typed:
    """A line of the prompt's own history: nobody knows when and where it was used."""

    text: str
    is_command: bool
    at: int = 0
    cwd: str = ""
    outcome: str = ""


def typed(lines: Sequence[str]) -> list[Past]:
    """Lines of the prompt's history, newest first, each once; what belongs to the REPL itself is left out."""
    found: dict[tuple[str, bool], Past] = {}
    for line in lines:
        is_command = line.startswith("!")
        text = line[1:].strip() if is_command else line.strip()
        if text and not text.startswith(":"):
            found.setdefault((text, is_command), Typed(text, is_command))
    return list(found.values())


class PastReader:
    """Reads the index in a thread. `entries` is what is known so far; `reading` whether more is to come.

    It is told nothing of the prompt: `changed` is called, in that thread, when there is more to show.
    """

    def __init__(self, folder: str, state: str) -> None:
        self.entries: Sequence[Past] = ()
        self.reading = False
        self._folder = folder
        self._state = state
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def begin(self, changed: Callable[[], None]) -> None:
        """Look again for what is new, unless it is being done."""
        if self._thread is not None and self._thread.is_alive():
            if not self._stopped.is_set():
                return
            self._thread.join(0.5)
        self._stopped = threading.Event()
        self.reading = True
        self._thread = threading.Thread(target=self._read, args=(changed, self._stopped), name="history", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Give up between two pieces of work; what was read stays."""
        self._stopped.set()

    def _read(self, changed: Callable[[], None], stopped: threading.Event) -> None:
        try:
            self._read_index(changed, stopped)
        except Exception:  # whatever is wrong with an index, the prompt's own history is still there
            return
        finally:
            self.reading = False
            changed()

    def _read_index(self, changed: Callable[[], None], stopped: threading.Event) -> None:
        from agent.audit.queries.service import LogQueries

        shown_at = 0.0

        def between(done: int, of: int) -> None:
            nonlocal shown_at
            if done and time.monotonic() - shown_at > _REFRESH_SECONDS:
                shown_at = time.monotonic()
                self.entries = queries.past(fresh=False)
                changed()

        with LogQueries(self._folder, self._state, told=between) as queries:
            if not self.entries:
                self.entries = queries.past(fresh=False)
                changed()
            self.entries = queries.past(stop=stopped.is_set)


def merged(entries: Sequence[Past], lines: Sequence[str]) -> list[Past]:
    """Put behind what the index knows what only the prompt's own history has."""
    known = {(entry.text, entry.is_command) for entry in entries}
    return [*entries, *(entry for entry in typed(lines) if (entry.text, entry.is_command) not in known)]
