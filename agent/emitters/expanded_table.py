"""Rows one below the other, a line a column: for more columns than a screen is wide, as database consoles do it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.emitters.cells import Row, cell_of, whole_cell
from agent.emitters.paint import paint
from agent.emitters.report import cell_width, cut_to_width
from agent.emitters.streams import Sink

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
        out.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))
    return count


def _pieces(text: str, width: int) -> list[str]:
    """The lines of a text, cut where they are too wide; never none."""
    pieces = []
    for line in text.split("\n"):
        piece, used = "", 0
        for character in line:
            cells = cell_width(character)
            if used + cells > width:
                pieces.append(piece)
                piece, used = "", 0
            piece, used = piece + character, used + cells
        pieces.append(piece)
    return pieces
