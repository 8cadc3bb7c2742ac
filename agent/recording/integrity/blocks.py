"""Large files in pieces that end where lines end, in bounded memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE

_BLOCK = 64 * 1024  # what is made of a piece should stay in the cache of the processor


def blocks(path: str, size: int = _BLOCK) -> Iterator[tuple[bytes, bool]]:
    """`(piece, ended)`: whole lines, or the file's last bytes, or (not `ended`) a part of a line that is too long to be held.

    `size` bytes are read at a time. Raises IoError for what is no regular file or cannot be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise IoError(f"{path} is not a regular file")
        held: list[bytes] = []
        waiting = 0
        while data := _read(file.fileno(), path, size):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*held, data[:cut])), True
                held, waiting = [data[cut:]], len(data) - cut
            else:
                held.append(data)
                waiting += len(data)
            if waiting > MAX_LINE:
                yield b"".join(held), False
                held, waiting = [], 0
        if waiting:
            yield b"".join(held), True


def _read(fd: int, path: str, size: int) -> bytes:
    try:
        return os.read(fd, size)
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
