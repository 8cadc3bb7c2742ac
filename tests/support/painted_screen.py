"""A terminal emulator's screen behind a sink: what is written is drawn, and can be read with what scrolled away."""

from __future__ import annotations

import unicodedata

import pyte

from agent.emitters.streams import MemorySink


class PaintedScreen(MemorySink):
    """A sink on a terminal; `lines` is what a person sees, from the first line that was ever written."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        super().__init__(is_tty=True, color=True, columns=columns, rows=rows)
        self._open(columns, rows)

    def write(self, data: bytes) -> None:
        super().write(data)
        self._stream.feed(drawable(data.decode()).encode().replace(b"\n", b"\r\n"))

    def resize(self, columns: int, *, wraps: bool) -> None:
        """Another width. Lines that are too long are wrapped anew (VTE, kitty, tmux) or cut (xterm)."""
        rows = self._size[1]
        shown = [*self.above_cursor, ""]
        self._size = (columns, rows)
        self._open(columns, rows)
        lines = shown if wraps else [cut(line, columns) for line in shown]
        self._stream.feed("\r\n".join(lines).encode())

    @property
    def lines(self) -> list[str]:
        shown = self._all_rows(self._screen.lines)
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def above_cursor(self) -> list[str]:
        """With the empty ones."""
        return self._all_rows(self._screen.cursor.y)

    def _open(self, columns: int, rows: int) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self._screen)

    def _all_rows(self, rows: int) -> list[str]:
        screen = self._screen
        buffer, columns = screen.buffer, range(screen.columns)  # pyte's attributes are slow to get
        lines = [*screen.history.top, *(buffer[row] for row in range(rows))]
        return ["".join([line[x].data for x in columns]).rstrip() if line else "" for line in lines]


def drawable(text: str) -> str:
    """Without marks that take no room and at which pyte drops the rest of what it was given."""
    return "".join(
        c for c in text if unicodedata.category(c) not in ("Mn", "Mc", "Me", "Cf") or unicodedata.combining(c)
    )


def cut(line: str, columns: int) -> str:
    """The cells of a line that are left of the edge."""
    while sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) > columns:
        line = line[:-1]
    return line.rstrip()
