"""Output on its way to the sink: at once after a pause, else gathered into at most 30 calls a second.

A program that writes byte by byte would otherwise cost a call, a log entry and a write to the terminal for each byte.
What comes in bulk is handed on at once, so that memory stays bounded and a slow sink slows the command down.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.protocol.ports import OutputSink

INTERVAL = 1 / 30  # seconds between two frames
LARGEST = 256 * 1024  # bytes that wait for a frame at most


class Frames:
    """The sink of one command. Pieces keep their order, also between the two streams; one that breaks is not called again.

    `failure` is what the sink said when it broke, "" so far.
    """

    def __init__(self, sink: OutputSink | None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._now = now
        self._next = 0.0
        self._waiting: list[tuple[str, float, list[bytes]]] = []
        self._size = 0
        self.failure = ""

    def add(self, stream: str, data: bytes, offset: float) -> None:
        """Take a piece; what waits is handed on with it where a frame is due."""
        if self._sink is None:
            return
        if self._waiting and self._waiting[-1][0] == stream:
            self._waiting[-1][2].append(data)
        else:
            self._waiting.append((stream, offset, [data]))
        self._size += len(data)
        if self._size >= LARGEST or self._now() >= self._next:
            self.flush()

    @property
    def patience(self) -> float | None:
        """Seconds until `flush` should be called, None where nothing waits."""
        return max(0.0, self._next - self._now()) if self._waiting else None

    def flush_if_due(self) -> None:
        """Hand on what waits if its time has come."""
        if self._waiting and self._now() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Hand on what waits."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        for stream, offset, pieces in waiting:
            if self._sink is None:
                return
            try:
                self._sink(stream, pieces[0] if len(pieces) == 1 else b"".join(pieces), offset)
            except Exception as error:  # a broken display must not end the command or lose its output
                self._sink = None
                self.failure = str(error) or type(error).__name__
        self._next = self._now() + INTERVAL
