"""A small /dev of our own: the harmless devices, and nothing that reaches hardware. Standard library only."""

from __future__ import annotations

import os

from agent.execution import kernel

NAMES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")
_LINKS = {
    b"fd": b"/proc/self/fd",
    b"stdin": b"/proc/self/fd/0",
    b"stdout": b"/proc/self/fd/1",
    b"stderr": b"/proc/self/fd/2",
    b"ptmx": b"pts/ptmx",
}


def open_all() -> dict[bytes, int]:
    """Descriptors of the real devices, to be opened before they are covered."""
    found = {}
    for name in NAMES:
        try:
            found[name] = os.open(b"/dev/" + name, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            pass  # a machine without it; programs will say so
    return found


def populate(target: bytes, devices: dict[bytes, int]) -> None:
    """Mount a new /dev at `target`. Raises OSError where that cannot be done.

    Devices are bound read-only: they can be used as ever, but their modes and owners, which are the real ones, cannot be changed.
    """
    kernel.mount(b"tmpfs", target, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, b"mode=0755,size=1m")
    for name, fd in devices.items():
        place = target + b"/" + name
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        kernel.mount(b"/proc/self/fd/%d" % fd, place, None, kernel.MS_BIND)
        kernel.mount_setattr(place, add=kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NOEXEC)
    for name, aim in _LINKS.items():
        os.symlink(aim, target + b"/" + name)
    os.mkdir(target + b"/pts", 0o755)
    os.mkdir(target + b"/shm", 0o755)
    kernel.mount(
        b"devpts",
        target + b"/pts",
        b"devpts",
        kernel.MS_NOSUID | kernel.MS_NOEXEC,
        b"newinstance,ptmxmode=0666,mode=0620",
    )


def close_all(devices: dict[bytes, int]) -> None:
    """Close what `open_all` opened."""
    for fd in devices.values():
        os.close(fd)
