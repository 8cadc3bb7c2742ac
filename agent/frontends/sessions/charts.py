"""Plot numbers with characters: columns over several rows, one-row lines, bars; plain ASCII where blocks do not show. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"
_SIDEWAYS = " ▏▎▍▌▋▊▉█"
_ASCII_LEVELS = " .:-=+*#@"


def knows_blocks(environ: Mapping[str, str], encoding: str) -> bool:
    """Tell whether block characters can be expected to show: the locale is one of UTF-8 or not set, the terminal is no bare one."""
    if encoding.lower().replace("-", "").replace("_", "") != "utf8" or environ.get("TERM", "") in (
        "dumb",
        "unknown",
        "linux",
    ):
        return False
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return not locale or "utf8" in locale.lower().replace("-", "")


def columns(values: Sequence[float], *, rows: int, width: int, gap: int, blocks: bool) -> list[str]:
    """The values as columns, `width` characters each with `gap` between, from the top row to the bottom one."""
    most = max(values, default=0) or 1
    heights = [_height(value, most, rows * 8) for value in values]
    lines = []
    for row in range(rows - 1, -1, -1):
        cells = []
        for height in heights:
            level = max(0, min(8, height - row * 8))
            cells.append((_BLOCKS[level] if blocks else _plain(level)) * width)
        lines.append((" " * gap).join(cells).rstrip())
    return lines


def line(values: Sequence[float], *, width: int, gap: int, blocks: bool, most: float | None = None) -> str:
    """The values on one row, against the largest of them (or `most`)."""
    top = most or max(values, default=0) or 1
    levels = _BLOCKS if blocks else _ASCII_LEVELS
    return (" " * gap).join(levels[_height(value, top, 8)] * width for value in values)


def bar(value: float, most: float, *, width: int, blocks: bool) -> str:
    """A bar from left to right, `width` characters for `most`; something above nothing always shows."""
    eighths = _height(value, most or 1, width * 8)
    if not blocks:
        return "#" * ((eighths + 7) // 8)
    return "█" * (eighths // 8) + (_SIDEWAYS[eighths % 8].strip())


def _height(value: float, most: float, steps: int) -> int:
    """`value` in steps, at least one for what is not nothing."""
    if value <= 0:
        return 0
    return max(1, min(steps, round(value / most * steps)))


def _plain(level: int) -> str:
    return "#" if level >= 6 else ":" if level >= 3 else "." if level else " "
