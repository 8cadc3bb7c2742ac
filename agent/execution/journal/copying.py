"""Faithful copies of files and trees: content with holes, mode, owner, times, attributes, ACLs, and which names are one file."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field

from agent.execution.journal import content
from agent.execution.journal.attributes import pin, read_values, set_values

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 300


@dataclass(slots=True)
class Copier:
    """Copies between open folders. `losses` collects in words what could not be kept; names of one file stay one file per Copier."""

    losses: list[str] = field(default_factory=list)
    _known: dict[tuple[int, int], tuple[int, bytes]] = field(default_factory=dict)

    def copy(self, source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
        """Copy the file or tree `source` to the new name `target`. Raises OSError; what was copied so far is left for the caller."""
        self._copy(source_fd, source, target_fd, target, 0)

    def close(self) -> None:
        """Forget which files had several names."""
        for fd, _ in self._known.values():
            os.close(fd)
        self._known.clear()

    def bare(self, source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
        """An empty folder with the values of the folder `source`."""
        os.mkdir(target, 0o700, dir_fd=target_fd)
        self._dress(source_fd, source, target_fd, target)

    def _copy(self, source_fd: int, source: bytes, target_fd: int, target: bytes, depth: int) -> None:
        info = os.stat(source, dir_fd=source_fd, follow_symlinks=False)
        kind = stat.S_IFMT(info.st_mode)
        if kind != stat.S_IFDIR and info.st_nlink > 1 and self._link(info, target_fd, target):
            return
        if kind == stat.S_IFREG:
            _regular(source_fd, source, target_fd, target)
        elif kind == stat.S_IFDIR:
            self._folder(source_fd, source, target_fd, target, depth)
        elif kind == stat.S_IFLNK:
            os.symlink(os.readlink(source, dir_fd=source_fd), target, dir_fd=target_fd)
        elif kind == stat.S_IFIFO:
            os.mkfifo(target, 0o600, dir_fd=target_fd)
        else:
            os.mknod(target, kind | 0o600, info.st_rdev, dir_fd=target_fd)
        self._dress(source_fd, source, target_fd, target)
        if kind != stat.S_IFDIR and info.st_nlink > 1:
            self._known[info.st_dev, info.st_ino] = os.dup(target_fd), target

    def _link(self, info: os.stat_result, target_fd: int, target: bytes) -> bool:
        known = self._known.get((info.st_dev, info.st_ino))
        if known is None:
            return False
        os.link(known[1], target, src_dir_fd=known[0], dst_dir_fd=target_fd, follow_symlinks=False)
        return True

    def _folder(self, source_fd: int, source: bytes, target_fd: int, target: bytes, depth: int) -> None:
        if depth > _DEEPEST:
            raise OSError(errno.ELOOP, "folders nested too deep to be copied", source)
        os.mkdir(target, 0o700, dir_fd=target_fd)
        inner_source = os.open(source, _FOLDER, dir_fd=source_fd)
        try:
            inner_target = os.open(target, _FOLDER, dir_fd=target_fd)
            try:
                for name in os.listdir(inner_source):
                    raw = os.fsencode(name)
                    self._copy(inner_source, raw, inner_target, raw, depth + 1)
            finally:
                os.close(inner_target)
        finally:
            os.close(inner_source)

    def _dress(self, source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
        dress(source_fd, source, target_fd, target, self.losses)


def dress(source_fd: int, source: bytes, target_fd: int, target: bytes, losses: list[str]) -> None:
    """Give `target` the owner, mode, times and attributes of `source`; what cannot be set goes to `losses`, in words."""
    one = pin(source_fd, source)
    try:
        other = pin(target_fd, target)
        try:
            values = read_values(one)
            name = os.fsdecode(source)
            missed = set_values(other, values, atime=os.fstat(one).st_atime_ns)
            losses.extend(f"{name}: {what}" for what in missed)
        finally:
            os.close(other)
    finally:
        os.close(one)


def _regular(source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source_fd)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.open(target, flags, 0o600, dir_fd=target_fd)
        try:
            content.fill(reading, writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
