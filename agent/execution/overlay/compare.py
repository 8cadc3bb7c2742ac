"""Read states of files for showing, and compare a file of the upper folder with the real one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from agent.config.private_file import closing
from agent.execution.overlay.folders import Folders, open_root, status_at, walk
from agent.execution.overlay.overlay_notes import attributes, content_attributes, is_own, prefix_of
from agent.protocol.rehearsals import FileKind, FileState

_KINDS: dict[int, FileKind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


def kind_of(mode: int) -> FileKind:
    """The kind in a mode as lstat gives it."""
    return _KINDS.get(stat.S_IFMT(mode), "device")


def state_in(folder: int, name: bytes, status: os.stat_result, *, userxattr: bool) -> FileState:
    """The state of `name` in an open folder; `userxattr`: which attributes are the overlay's own and not shown."""
    target = b""
    names: tuple[str, ...] = ()
    with suppress(OSError):  # gone or locked meanwhile: what lstat said is what there is to show
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(name, dir_fd=folder)
        prefix = prefix_of(userxattr)
        found = attributes(folder, name)
        names = tuple(sorted(os.fsdecode(each) for each in found if not is_own(each, prefix)))
    return _state(status, target, names)


def state_at(folders: Folders, path: bytes, status: os.stat_result, *, userxattr: bool) -> FileState:
    """The state of what lies at `path`; where that is no longer the file of `status`, what `status` says."""
    with suppress(OSError):
        folder, name = folders.parent(path)
        now = status_at(folder, name)
        if now is not None and (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
            return state_in(folder, name, status, userxattr=userxattr)
    return _state(status)


def bytes_at(folders: Folders, path: bytes, most: int) -> bytes | None:
    """The first `most` bytes of the regular file at `path`; None if it is none or cannot be read."""
    try:
        with regular(*folders.parent(path)) as opened, open(opened, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None


def _state(status: os.stat_result, target: bytes = b"", names: tuple[str, ...] = ()) -> FileState:
    is_folder = stat.S_ISDIR(status.st_mode)
    return FileState(
        kind=kind_of(status.st_mode),
        mode=stat.S_IMODE(status.st_mode),
        uid=status.st_uid,
        gid=status.st_gid,
        size=0 if is_folder else status.st_size,
        mtime=status.st_mtime_ns,
        links=1 if is_folder else status.st_nlink,
        target=os.fsdecode(target),
        xattrs=names,
    )


def entries_below(path: bytes) -> Iterator[tuple[bytes, os.stat_result, int, bytes]]:
    """As `walk`, what lies below the folder at an absolute path, as far as it can be read."""
    with suppress(OSError), closing(open_root(path)) as folder:
        yield from walk(folder)


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
