"""Processes of a test: killed at a chosen moment, and found by a mark in their environment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def killed_after(count: int, work: Callable[[Callable[[str], None]], object]) -> bool:
    """Do `work` in a child that kills itself after `count` moments; whether it came to that."""
    child = os.fork()
    if child == 0:
        left = [count]

        def watch(_moment: str) -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            work(watch)
        except BaseException:
            os._exit(3)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def marked(mark: str) -> dict[int, str]:
    """Pid -> command line of living processes that have `mark` in their environment."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if mark.encode() not in _file(f"/proc/{entry}/environ"):
                continue
            state = _file(f"/proc/{entry}/stat").rpartition(b")")[2].split()[0]
            line = _file(f"/proc/{entry}/cmdline")
        except OSError:
            continue
        if state not in (b"Z", b"X"):
            found[int(entry)] = line.replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def _file(path: str) -> bytes:
    """All of a file, quickly: most tests look at every process when they end."""
    number = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(number, 1 << 17), b""))
    finally:
        os.close(number)
