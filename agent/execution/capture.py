"""Keep the first and the last bytes of a stream in bounded memory."""

from __future__ import annotations

import codecs

from agent.protocol.outcomes import CapturedStream

_CONTINUATION = range(0x80, 0xC0)
_LONGEST_CHARACTER = 4


class HeadTail:
    """The first `head_bytes` and the last `tail_bytes` of what is fed; memory at most head + 2 * tail + one chunk."""

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_size = head_bytes
        self._tail_size = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Add a chunk of any size."""
        self.total += len(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if len(data) >= self._tail_size:
            self._tail[:] = data[len(data) - self._tail_size :]
            return
        self._tail += data
        if len(self._tail) > 2 * self._tail_size:
            del self._tail[: len(self._tail) - self._tail_size]

    def result(self) -> CapturedStream:
        """Decode what is kept as UTF-8; no character is torn by the cuts, invalid bytes become U+FFFD."""
        head = bytes(self._head)
        tail = bytes(self._tail[max(0, len(self._tail) - self._tail_size) :])
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
