"""Hold the parts of an explanation within a budget, and lay them out in two columns: the piece, and what it means."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from msgspec import Struct

from agent.text.visible import make_visible

MAX_PARTS = 240
MAX_ROWS = 320
MAX_DEPTH = 20
_MAX_TEXT = 200


class Part(Struct, kw_only=True):
    """A piece of a command and what it means. `span`: character offsets in the command, None where it stands in no one place.

    `level` is set where something was found about this piece alone. All text is made visible and on one line.
    """

    text: str
    meaning: str = ""
    level: str = ""
    span: tuple[int, int] | None = None
    parts: list[Part] = []


class Budget:
    """Parts, and depth, that are still worth showing. `left_out` counts what was not."""

    def __init__(self) -> None:
        self.left = MAX_PARTS
        self.rows = MAX_ROWS
        self.depth = 0
        self.left_out = 0

    def take(self) -> bool:
        """Tell whether one more part may be shown."""
        if self.left > 0 and self.depth < MAX_DEPTH:
            self.left -= 1
            return True
        self.left_out += 1
        return False

    def keep(self, parts: list[Part]) -> list[Part]:
        """The tree without what is behind the first MAX_ROWS parts, which are counted as left out."""
        kept = []
        for part in parts:
            if self.rows <= 0:
                self.left_out += 1
                continue
            self.rows -= 1
            kept.append(part)
            part.parts = self.keep(part.parts)
        return kept


def one_line(text: str, limit: int = _MAX_TEXT) -> str:
    """`text` made visible, on one line, with its middle left out where it is longer than `limit`."""
    if len(text) > limit * 4:
        text = text[: limit * 2] + text[-limit:]
    text = printable(text.replace("\n", "⏎"))
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail - 1]}…{text[len(text) - tail :]}"


def printable(text: str) -> str:
    """One line made visible, with whatever a terminal may not know written out as well."""
    text = make_visible(text).replace("\t", " ")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


MIN_WIDTH = 40
_GAP = 2
_STEP = 2
_MAX_COLUMN = 34
_SIGNS = {"medium": "! ", "high": "‼ "}


@functools.lru_cache(maxsize=1024)
def _char_cells(char: str) -> int:
    from wcwidth import wcwidth

    return max(int(wcwidth(char)), 0)


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    return len(text) if text.isascii() and text.isprintable() else sum(map(_char_cells, text))


def cut(text: str, width: int) -> str:
    """`text`, its end left out where it is wider than `width`."""
    if cells(text) <= width:
        return text
    kept = ""
    used = 1  # the mark
    for char in text:
        used += _char_cells(char)
        if used > width:
            break
        kept += char
    return kept + "…"


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken between words where there are any."""
    width = max(width, 2)  # one wide character must fit
    lines = [""]
    used = 0
    for word in text.split(" "):
        size = cells(word)
        if used and used + 1 + size <= width:
            lines[-1] += " " + word
            used += 1 + size
            continue
        if used or lines[-1]:
            lines.append("")
        lines[-1:] = _pieces(word, width)
        used = cells(lines[-1])
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces that fit."""
    if cells(word) <= width:
        return [word]
    pieces = [""]
    used = 0
    for char in word:
        size = _char_cells(char)
        if used + size > width:
            pieces.append("")
            used = 0
        pieces[-1] += char
        used += size
    return pieces


def columns(parts: Iterable[Part], width: int) -> list[str]:
    """All parts, each below the one that it belongs to, as lines of at most `width` columns."""
    rows: list[tuple[int, Part]] = []
    stack = [(0, part) for part in reversed(list(parts))]
    while stack:
        depth, part = stack.pop()
        rows.append((depth, part))
        stack.extend((depth + 1, child) for child in reversed(part.parts))
    deepest = width // 3
    wanted = max((min(_STEP * depth, deepest) + cells(part.text) for depth, part in rows if part.meaning), default=0)
    column = min(wanted, _MAX_COLUMN, width * 2 // 5)
    lines: list[str] = []
    for depth, part in rows:
        lines.extend(_row(min(_STEP * (depth + 1), deepest), part, column + _STEP + _GAP, width))
    return lines


def _row(indent: int, part: Part, column: int, width: int) -> list[str]:
    """One part; a text that is too wide for its column has its meaning below it."""
    meaning = _SIGNS.get(part.level, "") + printable(part.meaning) if part.meaning else ""
    text = " " * indent + printable(part.text)
    if not meaning:
        return [cut(text, width)]
    told = wrap(meaning, width - column)
    lines = [" " * column + line for line in told]
    if cells(text) + _GAP <= column:
        lines[0] = text + " " * (column - cells(text)) + told[0]
        return lines
    return [cut(text, width), *lines]
