"""What a background job writes, in a file of bounded size: the end of it is always kept.

Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os


class LogWriter:
    """Writes to `fd`, which it owns. Beyond `cap` bytes the older half is given up, and a first line says how much is missing."""

    def __init__(self, fd: int, cap: int) -> None:
        self._fd = fd
        self._cap = cap
        self._at = os.fstat(fd).st_size
        self._head = 0  # bytes of the line that says what is missing
        self._dropped = 0
        self.trouble = ""

    def write(self, data: bytes) -> None:
        """Add `data`. Never raises: a full disk must not end the job; `trouble` says what went wrong."""
        kept = data[-self._cap :]
        self._dropped += len(data) - len(kept)
        try:
            if self._at + len(kept) > self._cap:
                self._make_room(len(kept))
            self._put(kept, self._at)
            self._at += len(kept)
        except OSError as error:
            self._dropped += len(kept)
            self.trouble = error.strerror or str(error)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def _make_room(self, wanted: int) -> None:
        """Keep the newer half (less, where more room is wanted), from the start of a line on."""
        kept = max(0, min(self._cap // 2, self._cap - wanted))
        tail = os.pread(self._fd, kept, max(0, self._at - kept)) if kept else b""
        tail = tail[tail.find(b"\n") + 1 :]
        self._dropped += self._at - self._head - len(tail)
        head = b"[... %d bytes before this are not kept ...]\n" % self._dropped
        self._put(head + tail, 0)
        self._head, self._at = len(head), len(head) + len(tail)
        os.ftruncate(self._fd, self._at)

    def _put(self, data: bytes, at: int) -> None:
        while data:
            written = os.pwrite(self._fd, data, at)
            data, at = data[written:], at + written
