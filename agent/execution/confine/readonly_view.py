"""Make a view of the file system in which everything is read-only but a few folders. Standard library only.

All mounts stay where they are, in a mount namespace of our own: names, links and /proc mean what they always mean. Raw devices
cannot be opened at all; terminals, /dev/null and its like can. Shared memory is a fresh one.
"""

from __future__ import annotations

import errno
import os
import stat

from agent.config.paths import make_folder
from agent.config.private_file import closing
from agent.execution import kernel, system_calls
from agent.execution.mountinfo import is_within

_DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty", b"ptmx")
_CLONE = kernel.OPEN_TREE_CLONE | kernel.OPEN_TREE_CLOEXEC


def enter(writable: tuple[bytes, ...], protected: tuple[bytes, ...]) -> None:
    """Make all of this mount namespace read-only but `writable`, without what lies in `protected`.

    The namespace must be new and our own. Raises OSError with the step as its file name.
    """
    step = b"private"
    try:
        kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        step = b"copy"
        # Copies are made while everything is as it was; they cover the read-only view afterwards.
        copies = [(path, kernel.open_tree(path, _CLONE | kernel.AT_RECURSIVE)) for path in _outermost(writable)]
        copies += _devices()
        step = b"read-only"
        only = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NODEV
        kernel.mount_setattr(b"/", add=only, flags=kernel.AT_RECURSIVE)
        for path, copy in copies:
            step = path
            kernel.move_mount(copy, path)
            os.close(copy)
        step = b"shared memory"
        if os.path.isdir(b"/dev/shm") and not any(_within(path, (b"/dev/shm",)) for path in writable):
            flags = kernel.MS_NOSUID | kernel.MS_NODEV
            kernel.mount(b"shm", b"/dev/shm", b"tmpfs", flags, b"mode=1777")
        for path in protected:
            step = path
            _protect(path, writable)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fsdecode(step)) from None


def _outermost(paths: tuple[bytes, ...]) -> list[bytes]:
    """Without what lies inside another of them: its copy holds it already."""
    return [
        path for path in dict.fromkeys(paths) if not _within(path, tuple(other for other in paths if other != path))
    ]


def _within(path: bytes, folders: tuple[bytes, ...]) -> bool:
    return any(is_within(path, folder) for folder in folders)


def _devices() -> list[tuple[bytes, int]]:
    copies = []
    for name in _DEVICES:
        path = b"/dev/" + name
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISCHR(status.st_mode):
            copies.append((path, kernel.open_tree(path, _CLONE)))
    if os.path.ismount(b"/dev/pts"):
        copies.append((b"/dev/pts", kernel.open_tree(b"/dev/pts", _CLONE)))
    return copies


def _protect(path: bytes, writable: tuple[bytes, ...]) -> None:
    """Have `path`, which may lie in a writable folder, read-only with all below it.

    So is everything beside it up to that folder: a mount point cannot be renamed away, but the folders above it could.
    """
    root = next((folder for folder in _outermost(writable) if _within(path, (folder,))), None)
    if root is None:
        return
    below = path[len(root.rstrip(b"/")) + 1 :]
    if not below:
        raise system_calls.error(errno.EBUSY, os.fsdecode(path))
    if not os.path.lexists(path):
        make_folder(path)  # else it could be made, and be read at our next start
    top = root.rstrip(b"/") + b"/" + below.split(b"/")[0]
    with closing(kernel.open_tree(top, _CLONE | kernel.AT_RECURSIVE)) as copy:
        kernel.move_mount(copy, top)
        kernel.mount_setattr(top, add=kernel.MOUNT_ATTR_RDONLY, flags=kernel.AT_RECURSIVE)
