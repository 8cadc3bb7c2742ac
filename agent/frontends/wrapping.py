"""Break text between words, say how much room it takes, and shorten the path of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.text.shown import shown, shown_line

if TYPE_CHECKING:
    from agent.frontends.screen import Fragments

_INDENT = 2  # columns that a continued line stands further in
_NARROW, _BELOW = 60, 4  # columns in which two columns have no room beside each other; how far the second one stands in
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
    lines = text.split("\n")
    if columns < _NARROW:
        lines = [part for line in lines for part in _stacked(line, columns)]
    rows = wrapped(([("", line)] for line in lines), columns)
    return "\n".join(_text(row) for row in rows)


def _stacked(line: str, columns: int) -> list[str]:
    """A row of two columns that does not fit, the second one below the first."""
    halves = re.split(r"(?<=\S) {2,}(?=\S)", line)
    if len(halves) != 2 or cells(line) < columns:
        return [line]
    return [halves[0], " " * _BELOW + halves[1]]


def _rows(line: Fragments, columns: int) -> list[Fragments]:
    text = "".join(part for _, part in line)
    if cells(text) <= columns:
        return [line]
    indent = " " * (len(text) - len(text.lstrip(" ")) + _INDENT)
    rows: list[Fragments] = [[]]
    used = 0
    for gap, word in _items(_words(line), columns // 2):
        width = cells(_text(word))
        if used and used + cells(_text(gap)) + width > columns:
            rows.append([("", indent), *word])
            used = len(indent) + width
        else:
            rows[-1] += [*gap, *word]
            used += cells(_text(gap)) + width
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


def _items(words: list[tuple[Fragments, Fragments]], widest: int) -> list[tuple[Fragments, Fragments]]:
    """The words, with those between two ` · ` as one where they are at most `widest` columns: `F9 changes` is a key and its meaning."""
    items: list[tuple[Fragments, Fragments]] = []
    begun = 0
    for place, (_gap, word) in enumerate(words):
        if place < len(words) - 1 and _text(word) != "·":
            continue
        item = words[begun : place + 1]
        parts = [fragment for gap, each in item for fragment in (*gap, *each)]
        between = begun > 0 or place < len(words) - 1
        if between and cells(_text(parts)) <= widest:
            first = len(item[0][0])
            items.append((parts[:first], parts[first:]))
        else:
            items += item
        begun = place + 1
    return items


def _text(fragments: Fragments) -> str:
    return "".join(part for _, part in fragments)


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


_PREFIX, _HANGING = 20, 4  # columns before the first row of the editor, and before every other one


def rows_of(text: str, columns: int) -> int:
    """Rows that `text` takes in an editor of `columns`, rather too many than too few: room for a prefix is counted in."""
    from prompt_toolkit.utils import get_cwidth

    rows = 0
    for line in text.split("\n"):
        # A control character takes two columns (^X), and nothing takes fewer than one.
        plain = line.isascii() and line.isprintable()
        width = len(line) if plain else sum(max(get_cwidth(char), 1) for char in shown(line)) + len(line)
        rows += 1 + (width + _PREFIX) // max(columns - _HANGING, 1)
    return rows


def short_folder(cwd: str, home: str) -> str:
    """A folder for people: with ~ for home, safe to show, its end if it is long."""
    path = shown_line(cwd, 200)
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        path = "~" + path[len(home.rstrip("/")) :]
    return path if len(path) <= 32 else "…" + path[-31:]
