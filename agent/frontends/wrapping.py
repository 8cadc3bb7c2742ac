"""Sentences broken between words to the width of the terminal. For prose only: commands and files are shown as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.frontends.screen import Fragments

_INDENT = 2  # columns that a continued line stands further in
_PIECES = re.compile(r" +|[^ ]+")


def wrapped(lines: Iterable[Fragments], columns: int) -> list[Fragments]:
    """The lines, each at most `columns` wide where its words allow; a word that is longer is left to the terminal.

    Styles stay with their text. `columns` of 0 leaves everything as it is.
    """
    if not columns:
        return list(lines)
    return [row for line in lines for row in _rows(line, max(columns - 1, 1))]


def wrapped_text(text: str, columns: int) -> str:
    """The same for plain text with line ends."""
    rows = wrapped(([("", line)] for line in text.split("\n")), columns)
    return "\n".join(_text(row) for row in rows)


def _rows(line: Fragments, columns: int) -> list[Fragments]:
    text = "".join(part for _, part in line)
    if _width(text) <= columns:
        return [line]
    indent = " " * (len(text) - len(text.lstrip(" ")) + _INDENT)
    rows: list[Fragments] = [[]]
    used = 0
    for gap, word in _words(line):
        width = _width(_text(word))
        if used and used + _width(_text(gap)) + width > columns:
            rows.append([("", indent), *word])
            used = len(indent) + width
        else:
            rows[-1] += [*gap, *word]
            used += _width(_text(gap)) + width
    return rows


def _words(line: Fragments) -> list[tuple[Fragments, Fragments]]:
    """Each word with the blanks before it; a word may go through several fragments."""
    words: list[tuple[Fragments, Fragments]] = [([], [])]
    for style, text in line:
        for piece in _PIECES.findall(text):
            if piece[0] == " " and words[-1][1]:
                words.append(([], []))
            words[-1][piece[0] != " "].append((style, piece))
    return words


def _text(fragments: Fragments) -> str:
    return "".join(part for _, part in fragments)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)
