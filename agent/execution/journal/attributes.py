"""Read, compare and set file attributes beside content, without following links; digest all that stands at a path."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from agent.config.private_file import closing
from agent.execution.overlay.compare import regular
from agent.execution.overlay.folders import Folders, names_in
from agent.execution.overlay.overlay_notes import attributes_at

_MOST_BYTES = 16 << 20
_MOST_ENTRIES = 4_000
_DEEPEST = 100
_CHUNK = 1 << 18


class Contents:
    """Digests within a budget for all of them together: what is beyond it has none, and is told by inodes and times."""

    def __init__(self, *, most_bytes: int = _MOST_BYTES, most_entries: int = _MOST_ENTRIES) -> None:
        self._bytes = most_bytes
        self._entries = most_entries

    def digest(self, folders: Folders, path: bytes, mode: int, *, inside: bool = True) -> str:
        """The same for two files or trees that nobody could tell apart but by their inodes; "" where that cannot be said.

        Times of files count, those of folders do not. Without `inside` what a file or folder holds does not count.
        `mode`: what stood at `path` a moment ago.
        """
        try:
            return self._digest(*folders.parent(path), 0, mode, inside=inside)
        except (OSError, _BeyondBudget):
            return ""

    def _digest(self, folder: int, name: bytes, depth: int, mode: int, *, inside: bool = True) -> str:
        self._entries -= 1
        if self._entries < 0 or depth > _DEEPEST:
            raise _BeyondBudget
        is_file = inside and stat.S_ISREG(mode)
        with regular(folder, name) if is_file else closing(pin(folder, name)) as fd:
            info = os.fstat(fd)
            hashed = self._values(info, read_xattrs(fd))
            if is_file:
                self._read(fd, info.st_size, hashed)
                return hashed.hexdigest()
        is_folder = stat.S_ISDIR(info.st_mode)
        if stat.S_ISLNK(info.st_mode):
            hashed.update(os.readlink(name, dir_fd=folder))
        elif not inside:
            hashed.update(b"%d" % (0 if is_folder else info.st_size))
        elif is_folder:
            with closing(
                os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            ) as inner:
                for each in names_in(inner):
                    mode = os.stat(each, dir_fd=inner, follow_symlinks=False).st_mode
                    hashed.update(repr((each, self._digest(inner, each, depth + 1, mode))).encode())
        return hashed.hexdigest()

    def _values(self, info: os.stat_result, xattrs: dict[bytes, bytes]) -> blake2b:
        # A file with other names is another one than a copy of it that has none.
        times = () if stat.S_ISDIR(info.st_mode) else (info.st_mtime_ns, info.st_nlink)
        told = (info.st_mode, info.st_uid, info.st_gid, info.st_rdev, *times)
        return blake2b(repr((told, sorted(xattrs.items()))).encode(), digest_size=16)

    def _read(self, fd: int, size: int, hashed: blake2b) -> None:
        """Up to `size`: what grows meanwhile has another time."""
        while size > 0 and (data := os.read(fd, _CHUNK)):
            size -= len(data)
            self._bytes -= len(data)
            if self._bytes < 0:
                raise _BeyondBudget
            hashed.update(data)


class _BeyondBudget(Exception):
    """There is more than is worth being read."""


_HAS_PROC = os.path.isdir("/proc/self/fd")
_OVERLAY_NOTES = (b"trusted.overlay.", b"user.overlay.")
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)


class Facts(NamedTuple):
    """One lstat, without the device (its number may be another one after a restart). `mode` with the kind; times in nanoseconds."""

    ino: int
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int
    ctime: int
    links: int

    @classmethod
    def of(cls, info: os.stat_result) -> Facts:
        """The facts in a stat result."""
        mode, ino, _, links, uid, gid, size = info[:7]
        return cls(ino, mode, uid, gid, size, info.st_mtime_ns, info.st_ctime_ns, links)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


@dataclass(slots=True)
class Values:
    """Values that can be set on an inode. `mtime` in nanoseconds; `xattrs` by name."""

    mode: int
    uid: int
    gid: int
    mtime: int
    xattrs: dict[bytes, bytes] = field(default_factory=dict)


def look(folders: Folders, path: bytes) -> Facts | None:
    """The facts of what stands at `path`, None for nothing."""
    info = folders.lstat(path)
    return None if info is None else Facts.of(info)


def pin(folder_fd: int, name: bytes) -> int:
    """A descriptor that stands for exactly this inode, link or file, without opening what it stands for."""
    return os.open(name, _PATH_ONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder_fd)


@contextmanager
def pinned(folders: Folders, path: bytes) -> Iterator[int]:
    """The same by path, closed in the end."""
    with closing(pin(*folders.parent(path))) as fd:
        yield fd


def read_values(fd: int) -> Values:
    """The values of a pinned inode; the overlay's own notes are left out."""
    info = os.fstat(fd)
    return Values(stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, info.st_mtime_ns, read_xattrs(fd))


def values_at(folders: Folders, path: bytes) -> Values:
    """The values of what stands at `path`."""
    with pinned(folders, path) as fd:
        return read_values(fd)


def read_xattrs(fd: int) -> dict[bytes, bytes]:
    """All readable extended attributes but the overlay's own notes; none where the system has none."""
    found = attributes_at(way(fd), follow=True) if hasattr(os, "listxattr") else {}
    return {name: value for name, value in found.items() if not name.startswith(_OVERLAY_NOTES)}


def set_values(fd: int, values: Values, *, atime: int | None = None) -> list[str]:
    """Make the inode have these values; what it has already is not touched. In words, what could not be set.

    Owner before mode (chown takes set-id bits away), attributes before mode (a new ACL changes it), times last.
    Raises OSError where owner, mode or time cannot be set.
    """
    path = way(fd)
    info = os.fstat(fd)
    if (info.st_uid, info.st_gid) != (values.uid, values.gid):
        os.chown(path, values.uid, values.gid)
    missed = _set_xattrs(fd, values.xattrs)
    info = os.fstat(fd)
    if not stat.S_ISLNK(info.st_mode) and stat.S_IMODE(info.st_mode) != values.mode:
        os.chmod(path, values.mode)
    if info.st_mtime_ns != values.mtime or atime is not None:
        os.utime(path, ns=(info.st_atime_ns if atime is None else atime, values.mtime))
    return missed


def restore_mode_and_time(fd: int, wanted: os.stat_result | None) -> None:
    """Give a pinned file of ours the mode and mtime in `wanted`, where something (a right we lent, a copy) changed them."""
    if wanted is None or stat.S_ISLNK(wanted.st_mode):
        return
    now = os.fstat(fd)
    if now.st_mode != wanted.st_mode:
        os.chmod(way(fd), stat.S_IMODE(wanted.st_mode))
    if now.st_mtime_ns != wanted.st_mtime_ns:
        os.utime(way(fd), ns=(now.st_atime_ns, wanted.st_mtime_ns))


def _set_xattrs(fd: int, wanted: dict[bytes, bytes]) -> list[str]:
    present = read_xattrs(fd)
    if present == wanted or not hasattr(os, "setxattr"):
        return []
    path = way(fd)
    missed = []
    for name in sorted(present.keys() | wanted.keys()):
        try:
            if name not in wanted:
                os.removexattr(path, name)
            elif present.get(name) != wanted[name]:
                os.setxattr(path, name, wanted[name])
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            missed.append(f"attribute {os.fsdecode(name)}: {error.strerror}")
    return missed


def way(fd: int) -> str | int:
    """A way to the inode itself, even a link: nobody can put something else there. Without /proc the descriptor itself has to do."""
    return f"/proc/self/fd/{fd}" if _HAS_PROC else fd
