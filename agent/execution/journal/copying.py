"""Copy files and trees faithfully: content with holes, mode, owner, times, attributes, ACLs, and which names are one file.

Content is shared where the file system can, and written over another file in place.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.config.private_file import closing
from agent.execution.journal import syscalls
from agent.execution.journal.attributes import pin, read_values, set_values
from agent.execution.overlay.folders import FOLDER

_DEEPEST = 300
_PIECE = 1 << 24
_NO_RANGE_COPY = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM, errno.EBADF)


@dataclass(slots=True)
class Copier:
    """Copies between open folders. `losses` collects in words what could not be kept; names of one file stay one file per Copier."""

    losses: list[str] = field(default_factory=list)
    _known: dict[tuple[int, int], tuple[int, bytes]] = field(default_factory=dict)

    def __enter__(self) -> Copier:
        return self

    def __exit__(self, *_: object) -> None:
        for fd, _name in self._known.values():
            os.close(fd)
        self._known.clear()

    def copy(self, source_fd: int, source: bytes, target_fd: int, target: bytes, depth: int = 0) -> None:
        """Copy the file or tree `source` to the new name `target`. Raises OSError; what was copied so far is left for the caller."""
        info = os.stat(source, dir_fd=source_fd, follow_symlinks=False)
        kind = stat.S_IFMT(info.st_mode)
        several = kind != stat.S_IFDIR and info.st_nlink > 1
        known = self._known.get((info.st_dev, info.st_ino)) if several else None
        if known is not None:
            os.link(known[1], target, src_dir_fd=known[0], dst_dir_fd=target_fd, follow_symlinks=False)
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
        self.copy_values(source_fd, source, target_fd, target)
        if several:
            self._known[info.st_dev, info.st_ino] = os.dup(target_fd), target

    def _folder(self, source_fd: int, source: bytes, target_fd: int, target: bytes, depth: int) -> None:
        if depth > _DEEPEST:
            raise OSError(errno.ELOOP, "folders nested too deep to be copied", source)
        os.mkdir(target, 0o700, dir_fd=target_fd)
        with (
            closing(os.open(source, FOLDER, dir_fd=source_fd)) as inner_source,
            closing(os.open(target, FOLDER, dir_fd=target_fd)) as inner_target,
        ):
            for name in map(os.fsencode, os.listdir(inner_source)):
                self.copy(inner_source, name, inner_target, name, depth + 1)

    def copy_values(self, source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
        """Give `target` the owner, mode, times and attributes of `source`."""
        with closing(pin(source_fd, source)) as one, closing(pin(target_fd, target)) as other:
            missed = set_values(other, read_values(one), atime=os.fstat(one).st_atime_ns)
        self.losses.extend(f"{os.fsdecode(source)}: {what}" for what in missed)


def _regular(source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        closing(
            os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source_fd)
        ) as reading,
        closing(os.open(target, flags, 0o600, dir_fd=target_fd)) as writing,
    ):
        size = os.fstat(reading).st_size
        if size and syscalls.clone(reading, writing):
            return
        for start, end in _stretches(reading, size):
            _copy_stretch(reading, writing, start, end)
        if os.fstat(writing).st_size != size:
            os.ftruncate(writing, size)


def write_over(source: int, target: int) -> None:
    """Make an existing file read like another one without emptying it first, so that a full disk leaves both to be had.

    Blocks are taken before anything is overwritten where the file has to grow.
    """
    size = os.fstat(source).st_size
    at = 0
    for start, end in _stretches(source, size):
        _zero(target, at, start)
        _copy_stretch(source, target, start, end)
        at = end
    _zero(target, at, size)
    os.ftruncate(target, size)


def _stretches(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Find the data of a file, as (start, end); the whole file where the file system does not tell."""
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


def _copy_stretch(source: int, target: int, start: int, end: int) -> None:
    at = start
    while at < end:
        try:
            done = os.copy_file_range(source, target, min(_PIECE, end - at), at, at)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_RANGE_COPY:
                raise
            piece = os.pread(source, min(1 << 20, end - at), at)
            done = os.pwrite(target, piece, at)
        if done == 0:
            break  # it was cut while we read it
        at += done


def _zero(target: int, start: int, end: int) -> None:
    end = min(end, os.fstat(target).st_size)  # what lies beyond becomes a hole by itself
    if start >= end or syscalls.punch_hole(target, start, end - start):
        return
    blank = bytes(1 << 16)
    while start < end:
        start += os.pwrite(target, blank[: end - start], start)
