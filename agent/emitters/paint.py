"""Colour, text made safe to look at, and the room that it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.text.lazy_pattern import lazily
from agent.text.shown import shown

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
# On white a terminal's own green, yellow and cyan cannot be read: the shades of the prompts (`agent.frontends.screen`).
_ON_LIGHT = {"green": "38;5;22", "yellow": "38;5;94", "cyan": "38;5;24"}
LEVEL_STYLE = {"low": "green", "medium": "yellow", "high": "red"}
STATUS_STYLE = {
    "completed": "green", "answered": "green", "handed_off": "green",
    "skipped": "yellow", "cancelled": "yellow", "interrupted": "yellow", "not_understood": "yellow",
}  # fmt: skip
MARKS = {"green": "✓", "yellow": "–", "red": "✗"}
# C0 and C1 controls, bidirectional marks, separators, tags, surrogates, private use
_MOVING = lazily(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\uf8ff\U000e0000-\U000e007f]"
)
_SGR = lazily("\x1b\\[[0-9;]*m")


def use_theme(theme: str) -> None:
    """Paint for a background that is light or, for every other name, dark, from now on."""
    _in_use[:] = [theme]
    _codes.update(_CODES | (_ON_LIGHT if theme == "light" else {}))


def theme_in_use() -> str:
    """The name of it; "" for none."""
    return _in_use[0]


_codes, _in_use = dict(_CODES), [""]


def paint(text: str, style: str, *, color: bool) -> str:
    """`text` in `style` (red, green, yellow, cyan, dim, bold), each line by itself so that no pager or scroll loses it."""
    if not color or not text:
        return text
    code = _codes[style]
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else line for line in text.split("\n"))


def prose(text: str) -> str:
    """Sentences, made safe: what could move the cursor or turn the text around is made visible, but emoji, non-breaking
    spaces and the punctuation of any script stay. For commands, names and paths use `shown`.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    from agent.text.visible import make_visible

    return _MOVING.sub(lambda match: make_visible(match[0]), text)


def safe_line(text: str, limit: int = 500) -> str:
    """Prose on one line of at most `limit` characters."""
    line = prose(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


_CELL = 200


def safe_cell(text: str) -> str:
    """The beginning of a text as a cell of a table: one short line, with everything invisible made visible."""
    cell = shown(text[: _CELL * 2]).replace("\n", "⏎").replace("\t", " ")
    return cell if len(cell) <= _CELL else cell[: _CELL - 1] + "…"


def cell_width(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def at_words(text: str, columns: int) -> str:
    """`text` with lines that are wider than `columns` broken between words, the rest two columns further in; colours count for nothing.

    A word that is wider stays whole, and so does a command (`$ …`): they may be copied.
    """
    return "\n".join(row for line in text.split("\n") for row in _rows(line, columns))


def _rows(line: str, columns: int) -> Iterator[str]:
    bare = _SGR.sub("", line)
    if cell_width(bare) > columns and not bare.lstrip().startswith("$ "):
        indent = len(bare) - len(bare.lstrip(" ")) + 2
        row, used = "", 0
        for piece in re.findall(" *[^ ]+", line):
            width = cell_width(_SGR.sub("", piece))
            if used and used + width > columns:
                yield row
                row, used = " " * indent + piece.lstrip(" "), indent + width - (len(piece) - len(piece.lstrip(" ")))
            else:
                row, used = row + piece, used + width
        line = row
    yield line


def most_columns(text: str) -> int:
    """Columns that a line of `text` takes at the most: terminals differ in how they join emoji and place marks."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    def most(c: str) -> int:
        if category(c) in ("Mn", "Me"):
            return int(c == "\N{VARIATION SELECTOR-16}")
        return 2 if east_asian_width(c) in "WF" or "\U0001f1e6" <= c <= "\U0001f1ff" else 1

    return sum(map(most, text))


def cut_to_width(text: str, columns: int) -> str:
    """The beginning of `text` that fits into `columns`, with an ellipsis where something is missing."""
    return text if cell_width(text) <= columns else text[: fitting(text, columns - 1)] + "…"


def fitting(text: str, columns: int) -> int:
    """Count the characters at the beginning of `text` that fit into `columns`."""
    for at, character in enumerate(text):
        columns -= cell_width(character)
        if columns < 0:
            return at
    return len(text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """`text` (prose, made safe here) as lines of at most `width` columns; blanks at the beginning of a line stay."""
    for line in prose(text).split("\n"):
        yield from _broken(line.rstrip(), max(width, 20))


def _broken(line: str, width: int) -> Iterator[str]:
    while cell_width(line) > width:
        at = fitting(line, width)
        blank = line.rfind(" ", 0, at + 1)
        cut = blank if blank > width // 3 else max(at, 1)
        yield line[:cut].rstrip()
        line = line[cut:].lstrip(" ")
    yield line
