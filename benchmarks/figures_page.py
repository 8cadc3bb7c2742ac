"""Write measured rows into `docs/figures.md`: the table between `<!-- figures: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure

PAGE = Path(__file__).parent.parent / "docs" / "figures.md"


def table_row(figure: Figure) -> str:
    """A figure as a row: what, here, the peer with the ratio to it, wanted."""
    peer = f"{figure.peer_name} {_short(figure.peer)} {figure.unit} ({figure.ratio:.2f}x)" if figure.peer else ""
    cells = (figure.name, f"{_short(figure.ours)} {figure.unit}", peer, figure.wanted)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def merged(page: str, table: str, rows: Sequence[str]) -> str:
    """`page` with `rows` in that table: a row with the same first cell is replaced in its place, another one goes to the end."""
    start, old, end = _block(page, table)
    fresh = {_first_cell(row): row for row in rows}
    kept = [fresh.pop(_first_cell(row), row) for row in old]
    return f"{start}{chr(10).join([*kept, *fresh.values()])}\n{end}"


def replaced(page: str, table: str, lines: Sequence[str]) -> str:
    """`page` with the whole of that table replaced."""
    start, _, end = _block(page, table)
    return f"{start}{chr(10).join(lines)}\n{end}"


def _block(page: str, table: str) -> tuple[str, list[str], str]:
    found = re.search(rf"(?s)(.*<!-- figures: {re.escape(table)} -->\n)(.*?)\n(<!-- end -->.*)", page)
    if found is None:
        raise ValueError(f"{PAGE} has no table between <!-- figures: {table} --> and <!-- end -->")
    return found[1], found[2].splitlines(), found[3]


def _first_cell(row: str) -> str:
    return re.split(r"(?<!\\)\|", row, maxsplit=2)[1].strip()


def _short(number: float) -> str:
    """Three digits, without exponents."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
