"""Rows of sub-commands as a table for people or as JSON lines for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.emitters.paint import paint, safe_cell
from agent.emitters.streams import Sink
from agent.text.inert_json import inert_json


def print_rows(
    rows: Iterable[Mapping[str, Any]], *, json: bool, out: Sink, columns: Sequence[str] | None = None
) -> int:
    """Print `rows` to `out` and return how many there were. Raises EmitError.

    JSON: one object a line as the rows come, with all their keys. Table: `columns` (default: the keys of the first row) under
    a heading, widths as the cells need; on a terminal the last column is cut to the width.
    """
    return _json_lines(rows, out) if json else _table(list(rows), out, columns)


def _json_lines(rows: Iterable[Mapping[str, Any]], out: Sink) -> int:
    from msgspec import json

    count = 0
    for row in rows:
        try:
            line = json.encode(row)
        except UnicodeEncodeError:  # lone surrogates, from names of files
            from json import dumps

            line = dumps(row, default=str).encode()
        out.write(inert_json(line.decode()).encode() + b"\n")
        count += 1
    return count


def _table(rows: list[Mapping[str, Any]], out: Sink, columns: Sequence[str] | None) -> int:
    if not rows:
        return 0
    names = list(columns or rows[0])
    cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(cell_width, column)) for column in zip(*cells, strict=True)]
    numeric = [all(type(row.get(name)) in (int, float) for row in rows) for name in names]
    lines = [padded(line, widths, numeric) for line in cells]
    if out.is_tty:
        lines = [cut_to_width(line, out.size()[0]) for line in lines]
    lines[0] = paint(lines[0], "bold", color=out.color)
    out.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))
    return len(rows)


def padded(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    """The cells as a line of a table: numbers to the right, words that are too wide cut."""
    line = []
    for text, width, right in zip(cells, widths, numeric, strict=True):
        shown = text if right else cut_to_width(text, width)
        space = " " * (width - cell_width(shown))
        line.append(space + shown if right else shown + space)
    return "  ".join(line).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(item) for item in value)
    return safe_cell(str(value))


def cell_width(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut_to_width(text: str, columns: int) -> str:
    """The beginning of `text` that fits into `columns`, with an ellipsis where something is missing."""
    if cell_width(text) <= columns:
        return text
    kept = ""
    room = columns - 1
    for character in text:
        room -= cell_width(character)
        if room < 0:
            break
        kept += character
    return kept + "…"
