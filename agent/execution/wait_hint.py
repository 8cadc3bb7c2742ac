"""Tell the person that a command waits for keys, once and only where nothing on the screen says so."""

from __future__ import annotations

import fcntl
import os
import platform
import struct
import time

from agent.execution import terminal as terminals

QUIET = 1.0  # seconds without output or keys after which to look
RAREST = 32.0  # seconds between looks at a command that stays quiet: each reads the whole process table
WAITS = (
    b"\x1b[2mit waits for input from the terminal: type here (Ctrl-D ends the input, Ctrl-C the command),"
    b" or say :tty on before it\x1b[0m\n"
)


class WaitHint:
    """Of one command with a PTY (`master`, None without one). Tell it what was `shown`; `due` is true at most once."""

    def __init__(self, master: int | None) -> None:
        self._master = master
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = False

    def shown(self, data: bytes) -> None:
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = not data.endswith((b"\n", b"\r"))

    def due(self) -> bool:
        """Tell whether to say it now. A line without an end is taken for the question itself, raw mode for a program that draws."""
        if self._master is None or time.monotonic() - self._since < self._pause:
            return False
        self._since, self._pause = time.monotonic(), min(2 * self._pause, RAREST)
        if self._line_open or terminals.is_raw(self._master) or not waits_for_keys(self._master):
            return False
        self._master = None
        return True


_TIOCGPTN = 0x80045430
_DEV_TTY = os.makedev(5, 0)
# The number of read(2). Programs that wait in select or poll have taken the terminal for themselves before (readline does).
_READ = {"x86_64": 0, "aarch64": 63, "riscv64": 63}


def waits_for_keys(master: int) -> bool:
    """Tell whether a program on the PTY behind `master` sleeps until something is typed."""
    number = _READ.get(platform.machine())
    if number is None:
        return False
    try:
        group = os.tcgetpgrp(master)
        (index,) = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))
        device = os.stat(f"/dev/pts/{index}").st_rdev
        names = os.listdir("/proc")
    except OSError:
        return False
    return any(name.isdigit() and _sleeps_in_read(name, group, device, number) for name in names)


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
