"""The content of regular files: copied with its holes, shared where the file system can, or written over another file in place."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from agent.execution.journal import syscalls

_PIECE = 1 << 24
_NO_RANGE_COPY = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM, errno.EBADF)


def fill(source: int, target: int) -> None:
    """Give an empty file the content of another one: blocks are shared where possible, holes stay holes."""
    size = os.fstat(source).st_size
    if size and syscalls.clone(source, target):
        return
    for start, end in stretches(source, size):
        _copy(source, target, start, end)
    if os.fstat(target).st_size != size:
        os.ftruncate(target, size)


def write_over(source: int, target: int) -> None:
    """Make an existing file read like another one without emptying it first, so that a full disk leaves both to be had.

    Blocks are taken before anything is overwritten where the file has to grow.
    """
    size = os.fstat(source).st_size
    at = 0
    for start, end in stretches(source, size):
        _zero(target, at, start)
        _copy(source, target, start, end)
        at = end
    _zero(target, at, size)
    os.ftruncate(target, size)


def same(one: int, other: int) -> bool:
    """Tell whether two files have the same bytes; holes are not read."""
    size = os.fstat(one).st_size
    if os.fstat(other).st_size != size:
        return False
    at = 0
    for start, end in _union(stretches(one, size), stretches(other, size)):
        at = max(at, start)
        while at < end:
            piece = os.pread(one, min(1 << 18, end - at), at)
            if not piece or piece != os.pread(other, len(piece), at):
                return False
            at += len(piece)
    return True


def stretches(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Where data lies, as (start, end); the whole file where the file system does not tell."""
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
            end = os.lseek(fd, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # ENXIO: a hole to the end
                yield at, size
            return
        yield start, min(end, size)
        at = end


def _union(one: Iterator[tuple[int, int]], other: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted([*one, *other])


def _copy(source: int, target: int, start: int, end: int) -> None:
    at = start
    while at < end:
        try:
            done = os.copy_file_range(source, target, min(_PIECE, end - at), at, at)
        except AttributeError:
            done = _by_hand(source, target, at, end)
        except OSError as error:
            if error.errno not in _NO_RANGE_COPY:
                raise
            done = _by_hand(source, target, at, end)
        if done == 0:
            break  # it was cut while we read it
        at += done


def _by_hand(source: int, target: int, at: int, end: int) -> int:
    piece = os.pread(source, min(1 << 20, end - at), at)
    written = 0
    while written < len(piece):
        written += os.pwrite(target, piece[written:], at + written)
    return len(piece)


def _zero(target: int, start: int, end: int) -> None:
    end = min(end, os.fstat(target).st_size)  # what lies beyond becomes a hole by itself
    if start >= end or syscalls.punch_hole(target, start, end - start):
        return
    blank = bytes(1 << 16)
    while start < end:
        start += os.pwrite(target, blank[: end - start], start)
