"""Write rows of any values as they come: a table whose widths the first rows decide, CSV, or JSON lines, all in constant memory."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent.emitters.console import padded, print_rows, say
from agent.emitters.paint import cell_width, cut_to_width, fitting, paint, safe_cell
from agent.emitters.streams import Sink
from agent.text.shown import shown
from agent.text.sizes import counted

Row = Sequence[Any]

_MAX_WHOLE = 10_000


def cell_of(value: Any) -> str:
    """A value on one line, for people, safe to look at."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return safe_cell(plain(value))


def whole_cell(value: Any) -> str:
    """The same with its lines and nearly all that there is of it."""
    if value is None or isinstance(value, (bool, int, float)):
        return cell_of(value)
    text = plain(value)
    more = len(text) - _MAX_WHOLE
    cut = text[:_MAX_WHOLE] + (f"… {counted(more, 'more character')}" if more > 0 else "")
    return shown(cut).replace("\t", "    ")


def plain(value: Any) -> str:
    """A value as text without ornaments; "" for nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (list, tuple, dict)):
        from msgspec import json

        return json.encode(jsonable(value)).decode()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def jsonable(value: Any) -> Any:
    """The value in what JSON has; times in ISO 8601, what has no place there as text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime.datetime):
        return value.isoformat() + ("Z" if value.tzinfo is None else "")
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (list, tuple)):
        return [jsonable(each) for each in value]
    if isinstance(value, dict):
        return {plain(key): jsonable(each) for key, each in value.items()}
    return plain(value)


_MEASURED = 500
_NARROWEST = 8
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(
    columns: Sequence[str], numeric: Sequence[bool], rows: Iterable[Row], out: Sink, *, expanded: bool = False
) -> int:
    """A heading and one line a row, numbers to the right; how many rows. On a terminal wide columns give way to its width; where there are
    more of them than it has room for, and with `expanded` everywhere, rows stand one below the other. Raises EmitError.
    """
    if not columns:
        return 0
    if expanded:
        return write_expanded(columns, rows, out)
    coming = iter(rows)
    first = list(itertools.islice(coming, _MEASURED))
    cells = [[cell_of(value) for value in row] for row in first]
    heading = [cell_of(name) for name in columns]
    widths = [max(cell_width(line[i]) for line in [heading, *cells]) for i in range(len(columns))]
    if out.is_tty:
        widths = _fitted(widths, numeric, out.size()[0])
        if not _fits(widths, out.size()[0]):
            return write_expanded(columns, itertools.chain(first, coming), out)
    say(paint(padded(heading, widths, numeric), "bold", color=out.color), out)
    count = 0
    later = ([cell_of(value) for value in row] for row in coming)
    for line in itertools.chain(cells, later):
        say(padded(line, widths, numeric), out)
        count += 1
    return count


def write_csv(columns: Sequence[str], rows: Iterable[Row], out: Sink) -> int:
    """RFC 4180 with a heading; how many rows. On a terminal control characters are made visible. Raises EmitError.

    A text that a spreadsheet would take for a formula has an apostrophe before it: whoever wrote a log is not to run in it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # what stands in it is quoted: a lone return begins no row
    count = -1
    for row in itertools.chain([columns], rows):
        writer.writerow([_csv_cell(value) for value in row])
        line = text.getvalue()[:-2] + "\n"
        out.write((shown(line) if out.is_screen else line).encode("utf-8", "replace"))
        text.seek(0)
        text.truncate()
        count += 1
    return count


def write_json_lines(columns: Sequence[str], rows: Iterable[Row], out: Sink) -> int:
    """One object a row; two columns of one name get numbers. How many rows. Raises EmitError."""
    names = list(_unique(columns))
    return print_rows((dict(zip(names, map(jsonable, row), strict=True)) for row in rows), json=True, out=out)


def _fitted(widths: list[int], numeric: Sequence[bool], columns: int) -> list[int]:
    """Widths that fit: the widest columns of words give way first."""
    widths = list(widths)
    while not _fits(widths, columns):
        widest = max(range(len(widths)), key=lambda i: 0 if numeric[i] else widths[i])
        if numeric[widest] or widths[widest] <= _NARROWEST:
            break  # numbers are never cut, and of words enough must stay to be known again
        widths[widest] -= 1
    return widths


def _fits(widths: Sequence[int], columns: int) -> bool:
    return sum(widths) + 2 * (len(widths) - 1) <= columns


def _csv_cell(value: Any) -> str:
    text = plain(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


def _unique(columns: Sequence[str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for name in columns:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}_{seen[name]}"


_WIDEST_NAME = 30
_NARROWEST_VALUE = 10
_WIDTH = 100  # where there is no screen


def write_expanded(columns: Sequence[str], rows: Iterable[Row], out: Sink) -> int:
    """A heading and one `name  value` line a column for each row; how many rows. Long values go on below. Raises EmitError."""
    if not columns:
        return 0
    names = [cut_to_width(cell_of(name), _WIDEST_NAME) for name in columns]
    width = max(cell_width(name) for name in names)
    room = max((out.size()[0] if out.is_tty else _WIDTH) - width - 2, _NARROWEST_VALUE)
    count = 0
    for row in rows:
        count += 1
        lines = [""] if count > 1 else []
        lines.append(paint(f"row {count:,}", "bold", color=out.color))
        for name, value in zip(names, row, strict=True):
            lead = paint(name, "cyan", color=out.color) + " " * (width - cell_width(name) + 2)
            for piece in _pieces(whole_cell(value), room):
                lines.append((lead + piece).rstrip())
                lead = " " * (width + 2)
        say("\n".join(lines), out)
    return count


def _pieces(text: str, width: int) -> list[str]:
    """The lines of a text, cut where they are too wide; never none."""
    pieces = []
    for line in text.split("\n"):
        while (at := fitting(line, width)) < len(line):
            pieces.append(line[:at])
            line = line[at:]  # noqa: PLW2901  # what is left of it
        pieces.append(line)
    return pieces
