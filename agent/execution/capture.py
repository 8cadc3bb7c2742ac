"""Keep the first and the last bytes of a stream in bounded memory."""

from __future__ import annotations

import codecs
from collections import deque

from agent.protocol.outcomes import CapturedStream

_CONTINUATION = range(0x80, 0xC0)
_LONGEST_CHARACTER = 4
_SMALL, _LARGE = 4096, 65536  # chunks smaller than the one are gathered until they are as large as the other


class HeadTail:
    """The first `head_bytes` and the last `tail_bytes` of what is fed; memory at most head + tail + one chunk.

    Large chunks are kept as they are and never copied: at full speed copying would cost as much as reading.
    """

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_size = head_bytes
        self._tail_size = tail_bytes
        self._head = bytearray()
        self._tail: deque[bytes | bytearray] = deque()
        self._held = 0  # bytes in the tail's chunks
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Add a chunk of any size."""
        self.total += len(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
            if not data:
                return
        tail = self._tail
        if len(data) < _SMALL and tail and isinstance(tail[-1], bytearray) and len(tail[-1]) < _LARGE:
            tail[-1] += data
        else:
            tail.append(bytearray(data) if len(data) < _SMALL else data)
        self._held += len(data)
        while tail and self._held - len(tail[0]) >= self._tail_size:
            self._held -= len(tail.popleft())

    def result(self) -> CapturedStream:
        """Decode what is kept as UTF-8; no character is torn by the cuts, invalid bytes become U+FFFD."""
        head = bytes(self._head)
        tail = b"".join(self._tail)[max(0, self._held - self._tail_size) :]
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
