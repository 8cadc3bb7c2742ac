"""Digest what stands at a path: kind, mode, owner, attributes and content of a file or a whole tree, whichever inodes hold them."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

from agent.execution.journal.attributes import pin, read_values
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

    def digest(self, folders: Folders, path: bytes, *, inside: bool = True) -> str:
        """The same for two files or trees that nobody could tell apart but by their inodes; "" where that cannot be said.

        Times of files count, those of folders do not. Without `inside` what a file or folder holds does not count.
        """
        try:
            return self._digest(*folders.parent(path), 0, inside=inside)
        except (OSError, _BeyondBudget):
            return ""

    def _digest(self, folder: int, name: bytes, depth: int, *, inside: bool = True) -> str:
        self._entries -= 1
        if self._entries < 0 or depth > _DEEPEST:
            raise _BeyondBudget
        with closing(pin(folder, name)) as fd:
            info, values = os.fstat(fd), read_values(fd)
        is_folder = stat.S_ISDIR(info.st_mode)
        hashed = blake2b(digest_size=16)
        # A file with other names is another one than a copy of it that has none.
        told = (info.st_mode, info.st_uid, info.st_gid, info.st_rdev) + (
            () if is_folder else (values.mtime, info.st_nlink)
        )
        hashed.update(repr((told, sorted(values.xattrs.items()))).encode())
        if stat.S_ISLNK(info.st_mode):
            hashed.update(os.readlink(name, dir_fd=folder))
        elif not inside:
            hashed.update(b"%d" % (0 if is_folder else info.st_size))
        elif stat.S_ISREG(info.st_mode):
            self._read(folder, name, hashed)
        elif is_folder:
            with closing(
                os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            ) as inner:
                for each in names_in(inner):
                    hashed.update(repr((each, self._digest(inner, each, depth + 1))).encode())
        return hashed.hexdigest()

    def _read(self, folder: int, name: bytes, hashed: blake2b) -> None:
        with regular(folder, name) as fd:
            while data := os.read(fd, _CHUNK):
                self._bytes -= len(data)
                if self._bytes < 0:
                    raise _BeyondBudget
                hashed.update(data)


class _BeyondBudget(Exception):
    """There is more than is worth being read."""
