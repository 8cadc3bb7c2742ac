"""Whether a command has stopped to wait for keys: a process in the foreground of its terminal sleeps in a read of it.

Looked up in /proc (Linux): the system call a process sleeps in and the file it reads. Elsewhere, and for processes of
other users (a running sudo), nothing is known and the answer is no.
"""

from __future__ import annotations

import fcntl
import os
import platform
import struct

_TIOCGPTN = 0x80045430
_DEV_TTY = os.makedev(5, 0)
# The number of read(2). Programs that wait in select or poll have taken the terminal for themselves before (readline does).
_READ = {"x86_64": 0, "aarch64": 63, "riscv64": 63}


def waits_for_keys(master: int) -> bool:
    """Whether a program on the PTY behind `master` sleeps until something is typed."""
    number = _READ.get(platform.machine())
    if number is None:
        return False
    try:
        group = os.tcgetpgrp(master)
        device = _device(master)
        names = os.listdir("/proc")
    except OSError:
        return False
    return any(name.isdigit() and _sleeps_in_read(name, group, device, number) for name in names)


def _device(master: int) -> int:
    (number,) = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))
    return os.stat(f"/dev/pts/{number}").st_rdev


def _sleeps_in_read(pid: str, group: int, device: int, read: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, _parent, its_group = file.read().rpartition(b")")[2].split()[:3]
        if state != b"S" or int(its_group) != group:
            return False
        with open(f"/proc/{pid}/syscall", "rb") as file:
            words = file.read().split()
        if int(words[0]) != read:
            return False
        return os.stat(f"/proc/{pid}/fd/{int(words[1], 16)}").st_rdev in (device, _DEV_TTY)
    except (OSError, ValueError, IndexError):
        return False  # it ended meanwhile, runs, or is another user's
