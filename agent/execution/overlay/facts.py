"""Read states of files for showing: what lstat, links and attribute names say of a path, without following or opening anything else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from agent.execution.overlay.compare import regular
from agent.execution.overlay.folders import Folders, closing, open_root, status_at, walk
from agent.execution.overlay.overlay_notes import attributes, is_own, prefix_of
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
