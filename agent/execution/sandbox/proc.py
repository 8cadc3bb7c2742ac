"""A fresh /proc for a PID namespace, in which nothing of the system can be set. Standard library only."""

from __future__ import annotations

import os
import stat

from agent.execution import kernel


def mount(target: bytes = b"/proc") -> int:
    """Mount it on `target`, as a process of the new PID namespace. Raises OSError.

    Answers a descriptor of its `sys`, in which something can still be set: for `no_control_groups`, and to be closed after that.

    Many of its files ask for uid 0 and for no capability, and root of our namespace is uid 0 outside as well: so everything that is
    not about a process is made read-only (sysctls, the SysRq trigger, interrupt masks …).
    """
    kernel.mount(b"proc", target, b"proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with os.scandir(target) as entries:
        guarded = [entry.path for entry in entries if not entry.name.isdigit() and _can_be_written(entry)]
    settings = os.open(target + b"/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for path in guarded:
        kernel.mount(path, path, None, kernel.MS_BIND)
        kernel.mount_setattr(path, add=kernel.MOUNT_ATTR_RDONLY)
    return settings


def no_control_groups(settings: int) -> None:
    """Let no process of this user namespace, or of one in it, have a control group namespace. Raises OSError.

    In one of those a user namespace of the command's own could mount the control groups of the whole system, and root's files
    there are root's inside as well. `settings`: what `mount` answered.
    """
    try:
        fd = os.open(b"user/max_cgroup_namespaces", os.O_WRONLY | os.O_CLOEXEC, dir_fd=settings)
    except FileNotFoundError:
        return  # a kernel without them
    try:
        os.write(fd, b"0\n")
    finally:
        os.close(fd)


def _can_be_written(entry: os.DirEntry[bytes]) -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    return not stat.S_ISLNK(mode) and (stat.S_ISDIR(mode) or bool(mode & 0o222))
