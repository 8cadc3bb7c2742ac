"""Find words and a pattern in the texts of one goal, and the line to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import is_looked_up

LINE_SHOWN = 300

Field = Literal["goal", "message", "command", "output"]


class Place(Struct):
    """A line of a text with the places of what was found in it."""

    field: Field
    line: str
    spans: tuple[tuple[int, int], ...]


class Finder:
    """Finds words and pattern in the texts of a goal."""

    def __init__(self, words: tuple[str, ...], pattern: LinearPattern | None) -> None:
        self._words = [re.compile(_expression(word), re.IGNORECASE) for word in words]
        self._pattern = pattern

    def find(self, scope: list[tuple[Field, str]], *, strict: bool) -> Place | None:
        """The line to show. All words must be there; without `strict` the index is believed where it reads letters otherwise (ä, a)."""
        missing = [word for word in self._words if not any(word.search(text) for _, text in scope)]
        if missing and (strict or any(not _is_plain(word.pattern) for word in missing)):
            return None
        place = self._by_pattern(scope)
        if place is not None or self._pattern is not None:
            return place
        best: tuple[int, Field, str] | None = None
        for field, text in scope:
            for line in _lines_with(text, self._words):
                count = sum(1 for word in self._words if word.search(line))
                if best is None or count > best[0]:
                    best = (count, field, line)
        if best is None:
            return Place("goal", scope[0][1].partition("\n")[0][:LINE_SHOWN], ())
        spans = sorted(match.span() for word in self._words for match in word.finditer(best[2]))
        return _cut(best[1], best[2], tuple(spans))

    def touches(self, texts: list[tuple[Field, str]]) -> bool:
        """Tell whether one of the words or the pattern is in one of the texts."""
        if any(word.search(text) for word in self._words for _, text in texts):
            return True
        return self._pattern is not None and self._by_pattern(texts) is not None

    def _by_pattern(self, scope: list[tuple[Field, str]]) -> Place | None:
        if self._pattern is None:
            return None
        for field, text in scope:
            if self._pattern.search(text) is None:  # one look for all lines, nearly always
                continue
            for line in text.split("\n"):
                span = self._pattern.search(line)
                if span is not None:
                    return _cut(field, line, (span,))
        return None


def _lines_with(text: str, words: list[re.Pattern[str]]) -> Iterator[str]:
    """The first line with each of the words, each once."""
    seen = set()
    for word in words:
        if match := word.search(text):
            begins = text.rfind("\n", 0, match.start()) + 1
            ends = text.find("\n", match.end())
            if begins not in seen:
                seen.add(begins)
                yield text[begins : ends if ends >= 0 else len(text)]
    if not words and text:
        yield text.partition("\n")[0]


def _expression(word: str) -> str:
    """The word from its beginning on, or wherever it stands where it is none."""
    begins = r"(?<![^\W_])" if re.match(r"[^\W_]", word) and is_looked_up(word) else ""
    return begins + re.escape(word)


def _is_plain(expression: str) -> bool:
    """Tell whether it is one word of letters and digits, which the index compares without accents."""
    return re.fullmatch(r"[^\W_]+", expression.removeprefix(r"(?<![^\W_])")) is not None


def _cut(field: Field, line: str, spans: tuple[tuple[int, int], ...]) -> Place:
    """The part of a long line around the first match."""
    if len(line) <= LINE_SHOWN:
        return Place(field, line, spans)
    begins = max(0, (spans[0][0] if spans else 0) - LINE_SHOWN // 3)
    part = line[begins : begins + LINE_SHOWN]
    kept = tuple(
        (max(0, start - begins), min(len(part), end - begins))
        for start, end in spans
        if start < begins + LINE_SHOWN and end > begins
    )
    before, after = "…" if begins else "", "…" if begins + LINE_SHOWN < len(line) else ""
    return Place(field, before + part + after, tuple((start + len(before), end + len(before)) for start, end in kept))
