"""Compare a file of the upper folder with the real one: different in content, only in attributes, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from agent.execution.overlay.folders import closing
from agent.execution.overlay.overlay_notes import attributes, content_attributes

Difference = Literal["same", "meta", "content"]
Attributes = dict[bytes, bytes]
Found = tuple[int, bytes, os.stat_result]  # an open folder, a name in it, and its lstat

_CHUNK = 256 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(slots=True)
class ReadLimits:
    """Limits of reading: entries of all layers, and bytes for comparing; beyond those a file of equal size counts as changed."""

    entries: int
    bytes: int
    ran_out: bool = False

    def take(self, size: int) -> bool:
        if size > self.bytes:
            self.ran_out = True
            return False
        self.bytes -= size
        return True


@contextmanager
def regular(folder: int, name: bytes) -> Iterator[int]:
    """A regular file, open for reading, never a FIFO, device or link. Raises OSError if it cannot be read or is something else by now."""
    with closing(os.open(name, _READ, dir_fd=folder)) as opened:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", name)
        yield opened


def meta_differs(one: os.stat_result, one_has: Attributes, other: os.stat_result, other_has: Attributes) -> bool:
    """Tell whether mode, owner or attributes differ. Times are not compared."""
    return (one.st_mode, one.st_uid, one.st_gid, one_has) != (other.st_mode, other.st_uid, other.st_gid, other_has)


def difference(upper: Found, lower: Found, own: Attributes, prefix: bytes, limits: ReadLimits) -> Difference:
    """Compare two files of one type. `own`: the attributes of the upper one without the overlay's."""
    if _content_differs(upper, lower, limits):
        return "content"
    one, other = upper[2], lower[2]
    theirs = content_attributes(attributes(lower[0], lower[1]), prefix)
    if one.st_mtime_ns != other.st_mtime_ns or meta_differs(one, own, other, theirs):
        # Who does not own a file cannot have changed it: it was replaced, and only replacing does that for real.
        return "meta" if os.geteuid() in (0, other.st_uid) else "content"
    return "same"


def _content_differs(upper: Found, lower: Found, limits: ReadLimits) -> bool:
    """Tell whether bytes, the target of a link or a device number differ."""
    one, other = upper[2], lower[2]
    if stat.S_ISLNK(one.st_mode):
        return os.readlink(upper[1], dir_fd=upper[0]) != os.readlink(lower[1], dir_fd=lower[0])
    if stat.S_ISBLK(one.st_mode) or stat.S_ISCHR(one.st_mode):
        return one.st_rdev != other.st_rdev
    if not stat.S_ISREG(one.st_mode) or one.st_size == other.st_size == 0:
        return False
    if one.st_size != other.st_size:
        return True
    try:
        with regular(upper[0], upper[1]) as first, regular(lower[0], lower[1]) as second:
            return not same_bytes(first, second, limits)
    except OSError:
        return True  # its whole content is at hand


def same_bytes(one: int, other: int, limits: ReadLimits | None = None) -> bool:
    """Tell whether two open files have the same bytes. Holes are not read; what may not be read is not the same."""
    size = os.fstat(one).st_size
    if os.fstat(other).st_size != size:
        return False
    position = 0
    while position < size:
        position = min(_next_data(one, position, size), _next_data(other, position, size))
        if position >= size:
            break
        if limits is not None and not limits.take(_CHUNK):
            return False
        piece = os.pread(one, _CHUNK, position)
        if not piece or piece != os.pread(other, _CHUNK, position):
            return False
        position += len(piece)
    return True


def _next_data(opened: int, position: int, size: int) -> int:
    """Find the next byte that is not in a hole; `size` where only a hole follows."""
    try:
        return os.lseek(opened, position, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else position
    except AttributeError:  # no such call on this system
        return position
