"""The beginning of a file that somebody else may have put there. Never waits, as a FIFO or a terminal would make it."""

from __future__ import annotations

import os
import stat


def beginning(path: str, size: int) -> bytes:
    """The first `size` bytes of a regular file; nothing for anything else, and for what cannot be read."""
    try:
        # Asked before it is opened: opening alone wakes who waits at a FIFO, and rewinds a tape.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError):  # ValueError: an embedded NUL
        return b""
    try:
        return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)
