"""Find logs that have changed since they were last read, and their new lines. A line is read whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import without_links

_CHECKED = 4096
_BUFFER = 65_536


class FileState(Struct):
    """One file as it was last read. `read`: bytes that were taken in, up to the end of a line.

    `first` and `last`: hashes over the file's beginning and over what stands before `read`.
    """

    path: str
    inode: int
    size: int
    modified: int
    read: int = 0
    first: str = ""
    last: str = ""

    @property
    def written(self) -> float:
        """`modified` in seconds: the very number that `os.stat` gives, so that it sorts among those."""
        seconds, rest = divmod(self.modified, 1_000_000_000)
        return seconds + 1e-9 * rest


def state_of(path: str) -> FileState | None:
    """The file as it is now, unread; None where it cannot be looked at."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return FileState(path, info.st_ino, info.st_size, info.st_mtime_ns)


def unchanged(now: FileState, before: FileState) -> bool:
    return now.inode == before.inode and now.size == before.size and now.modified == before.modified


def goes_on(now: FileState, before: FileState) -> bool:
    """Tell whether the file has only grown since: what was read before still stands there, as far as a cheap look tells."""
    if now.inode != before.inode or now.size <= before.size:
        return False
    try:
        with open(now.path, "rb", opener=without_links) as file:
            return (before.first, before.last) == _checks(file, before.read)
    except OSError:
        return False


def opened(state: FileState) -> BinaryIO:
    """The file, for the two below. Raises OSError."""
    return open(state.path, "rb", buffering=_BUFFER, opener=without_links)


def new_lines(file: BinaryIO, state: FileState) -> Iterator[bytes | None]:
    """Each whole line from `state.read` on, None for one that is too long. `state` moves on with every line. Raises OSError."""
    file.seek(state.read)
    while line := file.readline(MAX_LINE + 1):
        length = len(line)
        whole: bytes | None = line
        while not line.endswith(b"\n"):
            whole = None
            line = file.readline(MAX_LINE)
            if not line:
                return  # not at its end yet
            length += len(line)
        state.read += length
        yield whole


def settle(file: BinaryIO, state: FileState) -> None:
    """Note what has been read, so that `goes_on` can tell later. Raises OSError."""
    state.first, state.last = _checks(file, state.read)


def _checks(file: BinaryIO, read: int) -> tuple[str, str]:
    file.seek(0)
    first = file.read(min(read, _CHECKED))
    file.seek(max(0, read - _CHECKED))
    last = file.read(min(read, _CHECKED))
    return hashlib.sha256(first).hexdigest()[:32], hashlib.sha256(last).hexdigest()[:32]
