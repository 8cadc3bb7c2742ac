"""The few calls that Python's `os` does not have: renames that exchange or never replace, and one sync for a file system."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from typing import Any

from agent.execution import kernel

_SWAP = 2  # macOS: RENAME_SWAP and RENAME_EXCL of renameatx_np
_EXCL = 4
_FICLONE = 0x40049409
_PUNCH_HOLE = 3  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _mac_rename() -> Any:
    return getattr(_libc(), "renameatx_np", None)


def _rename(source_fd: int, source: bytes, target_fd: int, target: bytes, *, linux: int, mac: int) -> None:
    call = _mac_rename()
    if call is None:
        kernel.renameat2(source, target, linux, source_folder=source_fd, target_folder=target_fd)
        return
    result = call(source_fd, ctypes.c_char_p(source), target_fd, ctypes.c_char_p(target), ctypes.c_uint(mac))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), source, None, target)


def move(source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
    """Rename without ever replacing: FileExistsError where `target` exists. Names are relative to folder descriptors."""
    try:
        _rename(source_fd, source, target_fd, target, linux=kernel.RENAME_NOREPLACE, mac=_EXCL)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        # A file system without it (NFS, some FUSE): look, then rename; only a rival in between could still be replaced.
        try:
            os.stat(target, dir_fd=target_fd, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target) from None


def exchange(one_fd: int, one: bytes, other_fd: int, other: bytes) -> bool:
    """Let two existing names change places in one step; False where this file system cannot."""
    try:
        _rename(one_fd, one, other_fd, other, linux=kernel.RENAME_EXCHANGE, mac=_SWAP)
    except OSError as error:
        if error.errno in _UNKNOWN:
            return False
        raise
    return True


def sync_file_system(folder_fd: int) -> None:
    """Wait until everything on the file system of `folder_fd` is on disk; whatever is dirty in the whole system without syncfs."""
    if sys.platform == "linux":
        fd = os.open(
            f"/proc/self/fd/{folder_fd}", os.O_RDONLY | os.O_CLOEXEC
        )  # a descriptor of a path alone will not do
        try:
            kernel.syncfs(fd)
        finally:
            os.close(fd)
    else:
        os.sync()


def clone(source_fd: int, target_fd: int) -> bool:
    """Share the blocks of one file with another (a reflink); False where the file system cannot."""
    import fcntl

    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target_fd, _FICLONE, source_fd)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        return False
    return True


def punch_hole(fd: int, start: int, length: int) -> bool:
    """Give the blocks of a stretch back, so that it reads as zeros; False where that cannot be done."""
    libc = _libc()
    if sys.platform != "linux" or not hasattr(libc, "fallocate"):
        return False
    return bool(libc.fallocate(fd, _PUNCH_HOLE, ctypes.c_int64(start), ctypes.c_int64(length)) == 0)


def mount_of(folder_fd: int) -> tuple[int, int]:
    """What must be equal for a rename between two folders to be possible: device and mount (-1 where it cannot be known)."""
    device = os.fstat(folder_fd).st_dev
    try:
        with open(f"/proc/self/fdinfo/{folder_fd}", "rb") as info:
            for line in info:
                if line.startswith(b"mnt_id:"):
                    return device, int(line.split()[1])
    except OSError:
        pass
    return device, -1
