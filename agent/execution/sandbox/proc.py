"""A fresh /proc for a PID namespace, in which nothing of the system can be set. Standard library only."""

from __future__ import annotations

import os
import stat

from agent.execution import kernel


def mount(target: bytes = b"/proc") -> None:
    """Mount it on `target`, as a process of the new PID namespace. Raises OSError.

    Many of its files ask for uid 0 and for no capability, and root of our namespace is uid 0 outside as well: so everything that is
    not about a process is made read-only (sysctls, the SysRq trigger, interrupt masks …).
    """
    kernel.mount(b"proc", target, b"proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with os.scandir(target) as entries:
        guarded = [entry.path for entry in entries if not entry.name.isdigit() and _can_be_written(entry)]
    for path in guarded:
        kernel.mount(path, path, None, kernel.MS_BIND)
        kernel.mount_setattr(path, add=kernel.MOUNT_ATTR_RDONLY)


def _can_be_written(entry: os.DirEntry[bytes]) -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    return not stat.S_ISLNK(mode) and (stat.S_ISDIR(mode) or bool(mode & 0o222))
