"""Digest what stands at a path: kind, mode, owner, attributes and content of a file or a whole tree, whichever inodes hold them."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

from agent.execution.journal.attributes import pin, read_xattrs
from agent.execution.overlay.compare import regular
from agent.execution.overlay.folders import Folders, closing, names_in

_MOST_BYTES = 16 << 20
_MOST_ENTRIES = 4_000
_DEEPEST = 100
_CHUNK = 1 << 18


class Contents:
    """Digests within a budget for all of them together: what is beyond it has none, and is told by its inode alone."""

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
