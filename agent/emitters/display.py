"""Two streams that may share one screen, and where the cursor is."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from agent.emitters.streams import Sink

StreamName = Literal["stdout", "stderr"]


@cache
def _trailing_controls() -> re.Pattern[bytes]:
    return re.compile(rb"(?:\x1b\[[0-9;]*[mJK])+\Z")


class Display:
    """Writes to both streams and knows whether the cursor stands at the start of a line.

    Two terminals are taken for the same one. A stream that is no terminal is never given bytes that nobody asked for.
    """

    def __init__(self, out: Sink, err: Sink) -> None:
        self.out = out
        self.err = err
        self._at_start = {"stdout": True, "stderr": True}

    def sink(self, stream: StreamName) -> Sink:
        return self.out if stream == "stdout" else self.err

    def write(self, stream: StreamName, data: str | bytes) -> None:
        """Write as it is. Raises EmitError."""
        raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
        if not raw:
            return
        self.sink(stream).write(raw)
        end = _trailing_controls().sub(b"", raw[-64:]) if raw.endswith((b"m", b"J", b"K")) else raw
        if end:
            self._mark(stream, end.endswith((b"\n", b"\r")))

    def line(self, stream: StreamName, text: str) -> None:
        """Write a line of its own."""
        self.fresh_line(stream)
        self.write(stream, text + "\n")

    def fresh_line(self, stream: StreamName) -> None:
        """On a terminal: go to the next line unless at the start of one."""
        if self.sink(stream).is_tty and not self._at_start[stream]:
            self.write(stream, "\n")

    def end_line(self, stream: StreamName) -> None:
        """End the line that *we* began, terminal or not."""
        if not self._at_start[stream]:
            self.write(stream, "\n")

    def _mark(self, stream: StreamName, at_start: bool) -> None:
        self._at_start[stream] = at_start
        if self.out.is_tty and self.err.is_tty:
            self._at_start = {"stdout": at_start, "stderr": at_start}
