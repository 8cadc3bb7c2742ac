"""The calls of the operating system that keep logs and their heads: one small layer, so that tests can put faults into each."""

from __future__ import annotations

import os


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
