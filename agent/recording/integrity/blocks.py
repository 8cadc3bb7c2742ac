"""Large files in pieces that end where lines end, in bounded memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE

_BLOCK = 64 * 1024  # what is made of a piece should stay in the cache of the processor


def blocks(path: str) -> Iterator[tuple[bytes, bool]]:
    """`(piece, ended)`: whole lines, or the file's last bytes, or (not `ended`) a part of a line that is too long to be held.

    Raises IoError for what is no regular file or cannot be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise IoError(f"{path} is not a regular file")
        held: list[bytes] = []
        size = 0
        while data := _read(file.fileno(), path):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*held, data[:cut])), True
                held, size = [data[cut:]], len(data) - cut
            else:
                held.append(data)
                size += len(data)
            if size > MAX_LINE:
                yield b"".join(held), False
                held, size = [], 0
        if size:
            yield b"".join(held), True


def _read(fd: int, path: str) -> bytes:
    try:
        return os.read(fd, _BLOCK)
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
