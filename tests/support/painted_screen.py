"""A terminal emulator's screen behind a sink: what is written is drawn, and can be read with what scrolled away."""

from __future__ import annotations

import pyte

from agent.emitters.streams import MemorySink


class PaintedScreen:
    """`sink` for an emitter; `lines` what a person sees, without the blanks around."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=2000)
        self._stream = pyte.ByteStream(self._screen)
        self.sink = _Drawn(self._stream, is_tty=True, color=True, columns=columns, rows=rows)

    @property
    def lines(self) -> list[str]:
        above = [self._text(line) for line in self._screen.history.top]
        shown = [*above, *(self._text(self._screen.buffer[row]) for row in range(self._screen.lines))]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def _text(self, line: object) -> str:
        return "".join(line[x].data for x in range(self._screen.columns)).rstrip()  # type: ignore[index]


class _Drawn(MemorySink):
    def __init__(self, stream: pyte.ByteStream, *, is_tty: bool, color: bool, columns: int, rows: int) -> None:
        super().__init__(is_tty=is_tty, color=color, columns=columns, rows=rows)
        self._stream = stream

    def write(self, data: bytes) -> None:
        super().write(data)
        self._stream.feed(data.replace(b"\n", b"\r\n"))
