"""Tables that fit the terminal: columns that matter less go first, one takes what is left. Without a terminal nothing is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent.emitters.paint import paint
from agent.emitters.report import cell_width, cut_to_width
from agent.emitters.streams import Sink

_GAP = 2
_LEAST_FLEXIBLE = 20
_LEAST_AT_ALL = 4


class Cell(Struct, frozen=True):
    """Text that is safe to show, and its style ("" for none)."""

    text: str
    style: str = ""


class Column(Struct, frozen=True):
    """One column. `drop`: where there is no room the highest goes first, 0 stays. The `flexible` one takes the room that is left."""

    name: str
    title: str
    drop: int = 0
    right: bool = False
    flexible: bool = False


def print_table(rows: Sequence[Mapping[str, Cell]], columns: Sequence[Column], out: Sink) -> None:
    """Print a heading and the rows. Raises EmitError."""
    room = out.size()[0] if out.is_tty else 0
    shown = [column for column in columns if any(row[column.name].text for row in rows) or column.flexible]
    widths = {
        column.name: max(cell_width(column.title), *(cell_width(row[column.name].text) for row in rows))
        for column in shown
    }
    flexible = next((column.name for column in shown if column.flexible), "")
    if room:
        while (left := room - _fixed(shown, widths, flexible)) < min(_LEAST_FLEXIBLE, widths.get(flexible, 0)):
            least = max(shown, key=lambda column: column.drop)
            if not least.drop:
                break
            shown.remove(least)
        if flexible:
            widths[flexible] = max(_LEAST_AT_ALL, min(left, widths[flexible]))
    heading = {column.name: Cell(column.title, "bold") for column in shown}
    text = "\n".join(_line(row, shown, widths, out) for row in [heading, *rows])
    out.write((text + "\n").encode("utf-8", "replace"))


def _fixed(columns: Sequence[Column], widths: Mapping[str, int], flexible: str) -> int:
    return sum(widths[column.name] for column in columns if column.name != flexible) + _GAP * (len(columns) - 1)


def _line(row: Mapping[str, Cell], columns: Sequence[Column], widths: Mapping[str, int], out: Sink) -> str:
    parts = []
    for column in columns:
        cell = row[column.name]
        text = cut_to_width(cell.text, widths[column.name])
        space = " " * (widths[column.name] - cell_width(text))
        painted = paint(text, cell.style, color=out.color) if cell.style else text
        last = column is columns[-1]
        parts.append(space + painted if column.right else painted + ("" if last else space))
    return (" " * _GAP).join(parts).rstrip()
