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
# Numbers of read, pselect6, and (where there is one) select.
_CALLS = {"x86_64": (0, 270, 23), "aarch64": (63, 72, None), "riscv64": (63, 72, None)}


def waits_for_keys(master: int) -> bool:
    """Whether a program on the PTY behind `master` sleeps until something is typed."""
    numbers = _CALLS.get(platform.machine())
    if numbers is None:
        return False
    try:
        group = os.tcgetpgrp(master)
        device = _device(master)
        names = os.listdir("/proc")
    except OSError:
        return False
    return any(name.isdigit() and _sleeps_in_read(name, group, device, numbers) for name in names)


def _device(master: int) -> int:
    (number,) = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))
    return os.stat(f"/dev/pts/{number}").st_rdev


def _sleeps_in_read(pid: str, group: int, device: int, numbers: tuple[int, int, int | None]) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, _parent, its_group = file.read().rpartition(b")")[2].split()[:3]
        if state != b"S" or int(its_group) != group:
            return False
        with open(f"/proc/{pid}/syscall", "rb") as file:
            words = file.read().split()
        number, first = int(words[0]), int(words[1], 16)
        if number == numbers[0]:
            fd = first
        elif (
            number in numbers[1:] and first == 1
        ):  # select on one descriptor: readline waits like that for its first key
            fd = 0
        else:
            return False
        return os.stat(f"/proc/{pid}/fd/{fd}").st_rdev in (device, _DEV_TTY)
    except (OSError, ValueError, IndexError):
        return False  # it ended meanwhile, runs, or is another user's
