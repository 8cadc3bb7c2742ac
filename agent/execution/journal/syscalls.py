"""Make the few calls that Python's `os` does not have: renames that exchange or never replace, and one sync for a file system."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from agent.config.private_file import closing
from agent.execution import kernel
from agent.execution.system_calls import LIBC

_SWAP = 2  # macOS: RENAME_SWAP and RENAME_EXCL of renameatx_np
_EXCL = 4
_FICLONE = 0x40049409
_PUNCH_HOLE = 3  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def _rename(source_fd: int, source: bytes, target_fd: int, target: bytes, *, linux: int, mac: int) -> None:
    call: Any = getattr(LIBC, "renameatx_np", None)
    if call is None:
        kernel.renameat2(source, target, linux, source_folder=source_fd, target_folder=target_fd)
        return
    if call(source_fd, ctypes.c_char_p(source), target_fd, ctypes.c_char_p(target), ctypes.c_uint(mac)) == -1:
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
    if sys.platform != "linux":
        os.sync()
        return
    # A descriptor of a path alone will not do.
    with closing(os.open(f"/proc/self/fd/{folder_fd}", os.O_RDONLY | os.O_CLOEXEC)) as fd:
        kernel.syncfs(fd)


@contextlib.contextmanager
def syncing_ahead(folder_fd: int) -> Iterator[None]:
    """While the body runs, the file system of `folder_fd` is synced once by another thread, which holds no lock of Python meanwhile.

    So the images of a large commit go to disk while they are put in place. It promises nothing: what counts is the sync that comes at
    the end, which has less to do then, and tells of failures.
    """
    own = os.dup(folder_fd)
    thread = threading.Thread(target=_sync, args=(own,), name="sync-ahead", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads to be had
        os.close(own)
        yield
        return
    try:
        yield
    finally:
        thread.join()


def _sync(folder_fd: int) -> None:
    with closing(folder_fd), contextlib.suppress(OSError):  # the last sync says it
        sync_file_system(folder_fd)


def clone(source_fd: int, target_fd: int) -> bool:
    """Share the blocks of one file with another (a reflink); False where the file system cannot."""
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
    call = getattr(LIBC, "fallocate", None) if sys.platform == "linux" else None
    return call is not None and call(fd, _PUNCH_HOLE, ctypes.c_int64(start), ctypes.c_int64(length)) == 0
