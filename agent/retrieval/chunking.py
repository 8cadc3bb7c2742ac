"""Cut a text into pieces along its structure: headings, sections of man pages, definitions, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TARGET = 1_200
"""Characters that a piece is filled up to; a single paragraph may be longer, up to MOST."""
MOST = 2_400

_MARKDOWN = re.compile(r"(#{1,6})\s+(\S.*?)\s*#*\s*$")
_SECTION = re.compile(r"[A-Z][A-Z0-9 ,/&'()-]{2,60}$")
_DEFINITION = re.compile(
    r"(?:export\s+|pub(?:\([a-z]+\))?\s+|async\s+|static\s+|public\s+|private\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|impl|module|trait|type)\s+(\w+)"
)
_OPTION = re.compile(r"[ \t]{1,14}(-{1,2}[\w?#@\[](?:\S| (?! ))*)")
_PART = re.compile(r" {3}[A-Z]\S*(?: \S+){0,7}$")  # of a manual
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True)
class Chunk:
    """`line`: where it begins, from 1. `heading`: what it stands under, outermost first."""

    line: int
    heading: str
    text: str


def chunks(text: str, *, options: bool = False) -> Iterator[Chunk]:
    """Pieces of `text` in order; together they hold every line that is not blank. `options`: of a manual, each option is a piece."""
    headings: list[tuple[int, str]] = []
    piece = _Piece()
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= bool(_FENCE.match(line))
        level, title = (0, "") if fenced else _option(line) if options and line[:1] in (" ", "\t") else _heading(line)
        if title:
            yield from piece.end(headings)
            headings = [*(each for each in headings if each[0] < level), (level, title)]
        elif (not line.strip() and piece.size >= TARGET and not fenced) or piece.size + len(line) > MOST:
            yield from piece.end(headings)
        piece.add(number, line)
    yield from piece.end(headings)


class _Piece:
    """The lines of a piece that is being filled."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._first = 0
        self.size = 0

    def add(self, number: int, line: str) -> None:
        if not self._lines:
            if not line.strip():
                return
            self._first = number
        self._lines.append(line)
        self.size += len(line) + 1

    def end(self, headings: list[tuple[int, str]]) -> Iterator[Chunk]:
        text = "\n".join(self._lines).rstrip()
        heading = " › ".join(title for _, title in headings)
        for begin in range(0, len(text), MOST):  # a line without an end is cut
            part = text[begin : begin + MOST]
            if part.strip():
                yield Chunk(self._first, heading, part)
        self._lines, self.size = [], 0


def _option(line: str) -> tuple[int, str]:
    """The names of an option whose description begins here, or the heading of a part of a section."""
    found = _OPTION.match(line)
    if found:
        return 8, found[1][:120]
    return (2, line.strip()[:120]) if _PART.match(line) else (0, "")


def _heading(line: str) -> tuple[int, str]:
    """The level and title of a heading, (0, "") where the line is none."""
    if line[:1] == "#":
        found = _MARKDOWN.match(line)
        return (len(found[1]), found[2][:120]) if found else (0, "")
    if line[:1].isupper() and _SECTION.match(line.rstrip()):
        return 1, line.strip()
    if line[:1].isalpha():
        definition = _DEFINITION.match(line)
        if definition:
            return 7, definition[1]
    return 0, ""
