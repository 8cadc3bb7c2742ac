"""Compare a file of the upper folder with the real one: different in content, only in attributes, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from typing import Literal

from agent.execution.overlay.overlay_notes import attributes, content_attributes

Difference = Literal["same", "meta", "content"]

_CHUNK = 256 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Budget:
    """How many bytes may still be read to compare contents; beyond it a file of equal size counts as changed."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.ran_out = False

    def take(self, size: int) -> bool:
        if size > self.left:
            self.ran_out = True
            return False
        self.left -= size
        return True


def open_regular(folder: int, name: bytes) -> int | None:
    """Open a regular file for reading, never a FIFO, device or link; None if it cannot be read or is something else by now."""
    try:
        opened = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    return None


def meta_differs(
    one: os.stat_result, one_attributes: dict[bytes, bytes], other: os.stat_result, other_attributes: dict[bytes, bytes]
) -> bool:
    """Tell whether mode, owner or attributes differ. Times are not compared."""
    return (one.st_mode, one.st_uid, one.st_gid) != (other.st_mode, other.st_uid, other.st_gid) or (
        one_attributes != other_attributes
    )


def difference(
    upper: tuple[int, bytes, os.stat_result],
    lower: tuple[int, bytes, os.stat_result],
    upper_attributes: dict[bytes, bytes],
    prefix: bytes,
    budget: Budget,
) -> Difference:
    """Compare two files of one type, each an open folder, a name and its lstat. `upper_attributes`: without the overlay's own."""
    if content_differs(upper, lower, budget):
        return "content"
    lower_attributes = content_attributes(attributes(lower[0], lower[1]), prefix)
    one, other = upper[2], lower[2]
    if one.st_mtime_ns != other.st_mtime_ns or meta_differs(one, upper_attributes, other, lower_attributes):
        # Who does not own a file cannot have changed it: it was replaced, and only replacing does that for real.
        return "meta" if os.geteuid() in (0, other.st_uid) else "content"
    return "same"


def content_differs(
    upper: tuple[int, bytes, os.stat_result], lower: tuple[int, bytes, os.stat_result], budget: Budget
) -> bool:
    """Tell whether the contents of two files of one type differ (bytes, target of a link, device number)."""
    one, other = upper[2], lower[2]
    if stat.S_ISLNK(one.st_mode):
        return os.readlink(upper[1], dir_fd=upper[0]) != os.readlink(lower[1], dir_fd=lower[0])
    if stat.S_ISBLK(one.st_mode) or stat.S_ISCHR(one.st_mode):
        return one.st_rdev != other.st_rdev
    if not stat.S_ISREG(one.st_mode):
        return False
    return one.st_size != other.st_size or not _same_bytes(upper, lower, budget)


def _same_bytes(
    upper: tuple[int, bytes, os.stat_result], lower: tuple[int, bytes, os.stat_result], budget: Budget
) -> bool:
    size = upper[2].st_size
    if size == 0:
        return True
    first = open_regular(upper[0], upper[1])
    if first is None:
        return False
    try:
        second = open_regular(lower[0], lower[1])
        if second is None:
            return False
        try:
            return _equal(first, second, size, budget)
        finally:
            os.close(second)
    except OSError:
        return False  # counts as changed: its whole content is at hand
    finally:
        os.close(first)


def _equal(first: int, second: int, size: int, budget: Budget) -> bool:
    position = 0
    while position < size:
        position = min(_next_data(first, position, size), _next_data(second, position, size))
        if position >= size:
            break
        if not budget.take(_CHUNK):
            return False
        one = os.pread(first, _CHUNK, position)
        if one != os.pread(second, _CHUNK, position):
            return False
        if not one:
            return False  # shorter than it said
        position += len(one)
    return True


def _next_data(opened: int, position: int, size: int) -> int:
    """Where the next byte that is not in a hole lies; `size` where only a hole follows."""
    try:
        return os.lseek(opened, position, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else position
    except AttributeError:  # no such call on this system
        return position
