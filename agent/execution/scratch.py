"""Files that only we and the shell we start can see: in memory where the kernel can, else 0600 and gone at once."""

from __future__ import annotations

import os
from typing import Protocol


class Held(Protocol):
    """Something that belongs to one command, and is let go of when that has ended."""

    def close(self) -> None: ...


class Scratch(Held, Protocol):
    """A file that only we and the shell we start know."""

    path: str

    def read(self) -> bytes:
        """All that is in it now."""


class ScratchFile:
    """A file with a path that another process of ours can open, whatever it does to its descriptors."""

    def __init__(self, content: bytes = b"") -> None:
        self._unlink = False
        try:
            self._fd = os.memfd_create("agent-shell")
            self.path = f"/proc/{os.getpid()}/fd/{self._fd}"
        except (AttributeError, OSError):
            import tempfile

            self._fd, self.path = tempfile.mkstemp(prefix="agent-shell-")
            self._unlink = True
        written = 0
        while written < len(content):
            written += os.pwrite(self._fd, content[written:], written)

    def read(self) -> bytes:
        """All that is in it now."""
        pieces = []
        at = 0
        while piece := os.pread(self._fd, 1 << 20, at):
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Release it; nothing stays on disk."""
        if self._unlink:
            os.unlink(self.path)
        os.close(self._fd)
