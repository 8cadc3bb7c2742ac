"""Fuzzy matching of what was asked and run before. Pure, and bounded: its work grows with the texts, never faster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

LOOKED_AT = 1_000
"""Characters of a text that are matched."""


class Past(Protocol):
    """One text with its latest use, as `agent.audit.queries.figures.Entry` has it."""

    @property
    def text(self) -> str: ...
    @property
    def is_command(self) -> bool: ...
    @property
    def at(self) -> int: ...
    @property
    def cwd(self) -> str: ...
    @property
    def outcome(self) -> str: ...


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
