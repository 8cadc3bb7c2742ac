"""Carry the output of a command: its channels, what of it is handed on when, and the first and last bytes that are kept."""

from __future__ import annotations

import codecs
import functools
import os
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.protocol.execution import OutputSink
from agent.protocol.outcomes import CapturedStream

if TYPE_CHECKING:
    from agent.execution.terminal import RealTerminal


@dataclass
class Channels:
    """Ends that the pump serves. `outputs`: read end -> stream name. `real` is None where the person has no terminal.

    `master` is the PTY's: of keys and echo only, of standard output too (`screen`), or of everything (`pass_through`).
    `output_limit`: bytes after which the command is stopped. `wake` has the guardian run, which a command may have stopped.
    """

    control: socket.socket
    outputs: dict[int, str]
    master: int | None = None
    real: RealTerminal | None = None
    pass_through: bool = False
    screen: bool = False
    output_limit: int | None = None
    wake: Callable[[], None] = lambda: None


_KEPT = "\b\t\n\r\a"


class PlainText:
    """Text without control codes, in chunks; a character split between two chunks is judged when it is whole."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> bytes:
        """The next bytes for the terminal: no escape sequences, no C1 controls, and nothing that turns text around."""
        text = self._decoder.decode(data)
        if not text.isprintable():
            text = _unwanted().sub(_replaced, text)
        return text.encode("utf-8")


def _replaced(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>" if match.lastgroup == "bidi" else ""


@functools.cache
def _unwanted() -> re.Pattern[str]:
    controls = "".join(chr(code) for code in (*range(0x20), 0x7F) if chr(code) not in _KEPT)
    return re.compile(f"(?P<bidi>[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f])|[{re.escape(controls)}\x80-\x9f]")


FLOOD = 1024 * 1024  # bytes after which what comes without a pause is a flood
FLOOD_PAUSE = 0.01  # seconds without output that end one
FLOOD_PIECE = 64 * 1024  # bytes that are worth a turn of their own; smaller pieces of a flood are let gather


class Flood:
    """Output that comes faster than in pieces worth a turn."""

    def __init__(self) -> None:
        self._size, self._latest = 0, time.monotonic()  # bytes since the last pause, and when the latest of them came

    def goes_on(self, came: int) -> bool:
        """Tell so of a turn in which `came` bytes came."""
        if not came:
            return False
        now = time.monotonic()
        self._size = came if now - self._latest > FLOOD_PAUSE else self._size + came
        self._latest = now
        return self._size > FLOOD and came < FLOOD_PIECE


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
        if self._waiting and self._now() >= self._next:
            self.flush()

    def flush(self) -> None:
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


_CONTINUATION = range(0x80, 0xC0)
_LONGEST_CHARACTER = 4
_WORTH_A_READ = 64 * 1024  # bytes


class HeadTail:
    """The first `head_bytes` and the last `tail_bytes` of what is fed, in head + tail bytes of memory.

    The tail is a ring. `read` fills it straight from a descriptor: at full speed every copy and every allocation counts.
    """

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_size = head_bytes
        self._tail_size = tail_bytes
        self._head = bytearray()
        self._ring = memoryview(b"")  # made when the head is full: most streams are short
        self._next = 0  # where in the ring the next byte goes
        self.total = 0

    @property
    def in_tail(self) -> bool:
        """Tell whether what comes now goes to the tail, so that `read` may be used: a small tail would take it in small pieces."""
        return self._tail_size >= _WORTH_A_READ and self.total >= self._head_size

    def feed(self, data: bytes) -> None:
        """Add a chunk of any size."""
        room = self._head_size - len(self._head)
        self.total += len(data)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if len(data) > self._tail_size:
            data = data[len(data) - self._tail_size :]
        if not data:
            return
        ring, start = self._tail(), self._next
        fits = min(len(data), len(ring) - start)
        ring[start : start + fits] = data[:fits]
        ring[: len(data) - fits] = data[fits:]
        self._next = (start + len(data)) % len(ring)

    def read(self, fd: int, most: int) -> int:
        """Read up to `most` bytes into the tail; how many came, 0 at the end. Only while `in_tail`; OSError as of `os.read`."""
        ring, start = self._tail(), self._next
        end = start + min(most, len(ring))
        size = os.readv(fd, [ring[start:end]] if end <= len(ring) else [ring[start:], ring[: end - len(ring)]])
        self._next = (start + size) % len(ring)
        self.total += size
        return size

    def latest(self, size: int) -> bytes:
        """The last `size` bytes that went to the tail, as many as it has at most."""
        ring, start = self._ring, self._next - size
        return bytes(ring[start : self._next]) if start >= 0 else bytes(ring[start:]) + bytes(ring[: self._next])

    def _tail(self) -> memoryview:
        if not self._ring:
            self._ring = memoryview(bytearray(self._tail_size))
        return self._ring

    def result(self) -> CapturedStream:
        """Decode what is kept as UTF-8; no character is torn by the cuts, invalid bytes become U+FFFD."""
        head = bytes(self._head)
        tail = self.latest(min(self.total - len(head), len(self._ring)))
        dropped = self.total - len(head) - len(tail)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head_text = decoder.decode(head, final=not tail and not dropped)
        torn = decoder.getstate()[0]
        if not dropped:
            return CapturedStream(head=head_text, tail=(torn + tail).decode("utf-8", "replace"), total_bytes=self.total)
        start = 0
        while start < min(_LONGEST_CHARACTER - 1, len(tail)) and tail[start] in _CONTINUATION:
            start += 1
        return CapturedStream(
            head=head_text,
            tail=tail[start:].decode("utf-8", "replace"),
            total_bytes=self.total,
            dropped_bytes=dropped + len(torn) + start,
        )
