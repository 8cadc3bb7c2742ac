"""States of files for showing: what lstat, links and attribute names say of one path, read without following or opening anything else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent.execution.overlay.compare import open_regular
from agent.execution.overlay.overlay_notes import attributes, is_own, prefix_of
from agent.execution.overlay.trees import open_below, open_root, status_at, walk
from agent.protocol.rehearsals import FileKind, FileState

_KEPT_OPEN = 4
Entry = tuple[bytes, os.stat_result, int, bytes]  # relative path, lstat, open folder and name in it


def kind_of(mode: int) -> FileKind:
    """The kind in a mode as lstat gives it."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISFIFO(mode):
        return "fifo"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def state_in(folder: int, name: bytes, status: os.stat_result, *, userxattr: bool) -> FileState:
    """The state of `name` in an open folder; `userxattr`: which attributes are the overlay's own and not shown."""
    target = b""
    names: tuple[str, ...] = ()
    try:
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(name, dir_fd=folder)
        prefix = prefix_of(userxattr)
        found = attributes(folder, name)
        names = tuple(sorted(os.fsdecode(each) for each in found if not is_own(each, prefix)))
    except OSError:
        pass  # gone or locked meanwhile: what lstat said is what there is to show
    return _state(status, target, names)


class Looker:
    """Looks at files by absolute path. The folders looked into last stay open, as the next file often lies beside; `close` them."""

    def __init__(self) -> None:
        self._open: dict[bytes, int] = {}

    def close(self) -> None:
        for folder in self._open.values():
            os.close(folder)
        self._open.clear()

    def _folder(self, path: bytes) -> int:
        if path not in self._open:
            if len(self._open) >= _KEPT_OPEN:
                os.close(self._open.pop(next(iter(self._open))))
            self._open[path] = open_root(path)
        return self._open[path]

    def state_at(self, path: bytes, status: os.stat_result, *, userxattr: bool) -> FileState:
        """The state of what lies at `path`; where that is no longer the file of `status`, what `status` says."""
        folder_path, _, name = path.rpartition(b"/")
        try:
            folder = self._folder(folder_path)
            now = status_at(folder, name)
            if now is not None and (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
                return state_in(folder, name, status, userxattr=userxattr)
        except OSError:
            pass
        return _state(status, b"", ())

    def bytes_at(self, path: bytes, most: int) -> bytes | None:
        """The first `most` bytes of the regular file at `path`; None if it is none or cannot be read."""
        folder_path, _, name = path.rpartition(b"/")
        try:
            opened = open_regular(self._folder(folder_path), name)
        except OSError:
            return None
        if opened is None:
            return None
        try:
            parts: list[bytes] = []
            while most > 0 and (part := os.read(opened, most)):
                parts.append(part)
                most -= len(part)
            return b"".join(parts)
        except OSError:
            return None
        finally:
            os.close(opened)


def _state(status: os.stat_result, target: bytes, names: tuple[str, ...]) -> FileState:
    return FileState(
        kind=kind_of(status.st_mode),
        mode=stat.S_IMODE(status.st_mode),
        uid=status.st_uid,
        gid=status.st_gid,
        size=0 if stat.S_ISDIR(status.st_mode) else status.st_size,
        mtime=status.st_mtime_ns,
        links=1 if stat.S_ISDIR(status.st_mode) else status.st_nlink,
        target=os.fsdecode(target),
        xattrs=names,
    )


def entries_below(path: bytes) -> Iterator[Entry]:
    """What lies below the folder at an absolute path, as far as it can be read."""
    folder_path, _, name = path.rpartition(b"/")
    try:
        above = open_root(folder_path)
    except OSError:
        return
    try:
        folder = open_below(above, name)
        try:
            yield from walk(folder)
        finally:
            os.close(folder)
    except OSError:
        return
    finally:
        os.close(above)
