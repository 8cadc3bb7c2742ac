"""Opening a log that somebody may have put something else in the place of: nothing here waits for a pipe or a device."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from agent.protocol.errors import IoError


def without_waiting(path: str, flags: int) -> int:
    """An opener for `open`: a named pipe does not hold us up."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def without_links(path: str, flags: int) -> int:
    """An opener for `open`: as `without_waiting`, and a link is refused."""
    return without_waiting(path, flags | os.O_NOFOLLOW)


@contextmanager
def open_log(path: str) -> Iterator[BinaryIO]:
    """The file to read from. Raises IoError for what is no regular file, and for whatever goes wrong while it is read."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"{path} is not a regular file")
            yield file
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
