"""The calls of the operating system that keep logs and their heads: one small layer, so that tests can put faults into each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from agent.protocol.errors import IoError


class Disk:
    """The real one. Every method raises OSError as the call it stands for does."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags, mode)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def replace(self, old: str, new: str) -> None:
        os.replace(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)


REAL_DISK = Disk()


def sync_folder(folder: str, disk: Disk = REAL_DISK) -> None:
    """Make a new or changed name itself survive a power cut, where the file system can. Never raises."""
    try:
        fd = disk.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        disk.fsync(fd)
    except OSError:
        pass  # not every file system syncs folders
    finally:
        os.close(fd)


def without_waiting(path: str, flags: int) -> int:
    """An opener for `open`: a named pipe does not hold us up."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def without_links(path: str, flags: int) -> int:
    """An opener for `open`: as `without_waiting`, and a link is refused."""
    return without_waiting(path, flags | os.O_NOFOLLOW)


@contextmanager
def open_log(path: str) -> Iterator[BinaryIO]:
    """The file to read from. Raises IoError for what is no regular file, and for whatever goes wrong while it is read."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"{path} is not a regular file")
            yield file
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
