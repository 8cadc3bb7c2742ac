"""Make a /dev and a /proc of our own: the harmless devices, and nothing that reaches hardware or sets the system. Standard library only."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from agent.execution import kernel

_DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")
_LINKS = {
    b"fd": b"/proc/self/fd",
    b"stdin": b"/proc/self/fd/0",
    b"stdout": b"/proc/self/fd/1",
    b"stderr": b"/proc/self/fd/2",
    b"ptmx": b"pts/ptmx",
}


def open_devices() -> dict[bytes, int]:
    """Descriptors of the real devices, to be opened before they are covered."""
    found = {}
    for name in _DEVICES:
        with suppress(OSError):  # a machine without it; programs will say so
            found[name] = os.open(b"/dev/" + name, os.O_PATH | os.O_CLOEXEC)
    return found


def mount_dev(target: bytes, devices: dict[bytes, int]) -> None:
    """Mount a new /dev at `target`, and close the descriptors in `devices`. Raises OSError where that cannot be done.

    Devices are bound read-only: they can be used as ever, but their modes and owners, which are the real ones, cannot be changed.
    """
    kernel.mount(b"tmpfs", target, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, b"mode=0755,size=1m")
    for name, fd in devices.items():
        place = target + b"/" + name
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        kernel.mount(b"/proc/self/fd/%d" % fd, place, None, kernel.MS_BIND)
        kernel.mount_setattr(place, add=kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NOEXEC)
        os.close(fd)
    for name, aim in _LINKS.items():
        os.symlink(aim, target + b"/" + name)
    os.mkdir(target + b"/pts", 0o755)
    os.mkdir(target + b"/shm", 0o755)
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount(b"devpts", target + b"/pts", b"devpts", flags, b"newinstance,ptmxmode=0666,mode=0620")


def mount_proc() -> int:
    """Mount a fresh /proc, in which nothing of the system can be set, as a process of the new PID namespace. Raises OSError.

    Answers a descriptor of its `sys`, in which something can still be set: for `no_control_groups`, and to be closed after that.

    Many of its files ask for uid 0 and for no capability, and root of our namespace is uid 0 outside as well: so everything that is
    not about a process is made read-only (sysctls, the SysRq trigger, interrupt masks …).
    """
    kernel.mount(b"proc", b"/proc", b"proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with os.scandir(b"/proc") as entries:
        guarded = [entry.path for entry in entries if not entry.name.isdigit() and _can_be_written(entry)]
    settings = os.open(b"/proc/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for path in guarded:
        kernel.mount(path, path, None, kernel.MS_BIND)
        kernel.mount_setattr(path, add=kernel.MOUNT_ATTR_RDONLY)
    return settings


def no_control_groups(settings: int) -> None:
    """Let no process of this user namespace, or of one in it, have a control group namespace. Raises OSError.

    In one of those a user namespace of the command's own could mount the control groups of the whole system, and root's files
    there are root's inside as well. `settings`: what `mount_proc` answered.
    """
    try:
        fd = os.open(b"user/max_cgroup_namespaces", os.O_WRONLY | os.O_CLOEXEC, dir_fd=settings)
    except FileNotFoundError:
        return  # a kernel without them
    with open(fd, "wb", buffering=0) as file:
        file.write(b"0\n")


def _can_be_written(entry: os.DirEntry[bytes]) -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    return not stat.S_ISLNK(mode) and (stat.S_ISDIR(mode) or bool(mode & 0o222))
