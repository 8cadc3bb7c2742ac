"""Files that only we and the shell we start can see: in memory where the kernel can, else 0600 and gone at once."""

from __future__ import annotations

import os
from typing import Protocol

_LONGEST = 64 << 20  # bytes; the environment of a process, its functions and aliases are far smaller


def read_whole(fd: int) -> bytes:
    """What is in a file, b"" where that is more than a shell's state can be: a command can write there, or make it endless."""
    pieces = []
    at = 0
    while at <= _LONGEST and (piece := os.pread(fd, 1 << 20, at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces) if at <= _LONGEST else b""


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
        """All that is in it now; nothing of what is longer than any state."""
        return read_whole(self._fd)

    def close(self) -> None:
        """Release it; nothing stays on disk."""
        if self._unlink:
            os.unlink(self.path)
        os.close(self._fd)
