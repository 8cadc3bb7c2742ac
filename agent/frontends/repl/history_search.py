"""Search goals and commands of all sessions for Ctrl-R: from the index, read beside the prompt and never waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from agent.audit.queries.figures import Entry

    Past: TypeAlias = "Entry | Typed"
    """One text with its latest use."""

LOOKED_AT = 1_000
"""Characters of a text that are matched."""


def places(query: str, text: str) -> tuple[int, ...] | None:
    """Find the letters of `query` in `text`: word for word, each in one piece if it can be, else its letters in order.

    None where they do not. Case counts only if the query has a capital letter.
    """
    text = text[:LOOKED_AT]
    if query == query.lower():
        lowered = text.lower()
        text = lowered if len(lowered) == len(text) else text
    found: list[int] = []
    for word in query.split():
        at = _whole(word, text)
        if at >= 0:
            found.extend(range(at, at + len(word)))
            continue
        for letter in word:
            at = text.find(letter, at + 1)
            if at < 0:
                return None
            found.append(at)
    return tuple(found)


def _whole(word: str, text: str) -> int:
    """Find `word` in one piece: at the beginning of a word rather than inside one."""
    at = text.find(word)
    first = at
    while at > 0 and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    return at if at >= 0 else first


def ordered(query: str, entries: Iterable[Past], cwd: str) -> list[Past]:
    """Those that match: in one piece before scattered, closer letters before wider, then what was used here, then the latest."""
    ranked = []
    for entry in entries:
        found = places(query, entry.text)
        if found is not None:
            ranked.append((_spread(found), entry.cwd != cwd, -entry.at, entry))
    ranked.sort(key=lambda rank: rank[:3])
    return [entry for *_, entry in ranked]


def _spread(found: Sequence[int]) -> int:
    """Tell how many gaps are between the letters, in steps: none, few, many."""
    gaps = sum(1 for one, other in pairwise(found) if other - one not in (0, 1))
    return 0 if gaps <= 1 else 1 + min(gaps // 3, 3)


class Narrowing:
    """The matches of a query that grows letter by letter: each time only among those of the query before."""

    def __init__(self, entries: Sequence[Past], cwd: str) -> None:
        self._all = entries
        self._cwd = cwd
        self._query = ""
        self._found: list[Past] = ordered("", entries, cwd)

    def __call__(self, query: str) -> list[Past]:
        if query != self._query:
            among = self._found if self._query and query.startswith(self._query) else self._all
            self._found = ordered(query, among, self._cwd)
            self._query = query
        return self._found


_REFRESH_SECONDS = 3.0


class Typed(Struct, frozen=True):
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
