"""Resource limits of one command: output, memory, processes, size of a file. Standard library only: the helper uses it too.

Where a control group with controllers can be had, the kernel holds memory and processes for the whole tree. Else each process gets
resource limits, as a fence against sudden growth, and the guardian counts what the tree takes, which also works for root.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

INTERVAL = 0.2  # seconds between two looks at a tree
ENDED = "ended: "
_SPARE_THREADS = 64  # the kernel counts threads, and per user: the fence stands well behind the limit
_UNITS = (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))


class RunLimits(NamedTuple):
    """Bytes and counts; None where nothing is limited."""

    output: int | None = None
    memory: int | None = None
    file_size: int | None = None
    processes: int | None = None
    core: int | None = None


UNLIMITED = RunLimits()


def fence(limits: RunLimits, *, held: tuple[str, ...]) -> None:
    """Limit this process and all it will start. `held`: what a control group limits already. Raises OSError or ValueError."""
    import resource

    wanted = {resource.RLIMIT_FSIZE: limits.file_size, resource.RLIMIT_CORE: limits.core}
    if "memory" not in held:
        wanted[resource.RLIMIT_DATA] = limits.memory
    if limits.processes is not None and "processes" not in held and os.geteuid() != 0:
        wanted[resource.RLIMIT_NPROC] = _threads_of_user() + 4 * limits.processes + _SPARE_THREADS
    for kind, value in wanted.items():
        if value is not None:
            _soft, hard = resource.getrlimit(kind)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (most, most))


def _threads_of_user() -> int:
    count = 0
    uid = os.geteuid()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it ended meanwhile
    return count


class Watch:
    """Looks at a tree from time to time. `held`: what the kernel limits already."""

    def __init__(self, limits: RunLimits, held: tuple[str, ...] = ()) -> None:
        self._memory = limits.memory if "memory" not in held else None
        self._processes = limits.processes if "processes" not in held else None
        watches = self._memory is not None or self._processes is not None
        self.due: float | None = time.monotonic() + INTERVAL / 4 if watches else None

    def broken(self, living: Callable[[], set[int]], now: float) -> str:
        """Name the limit that those who live are over now, "" for none; not before it is due."""
        if self.due is None or now < self.due:
            return ""
        self.due = now + INTERVAL
        members = living()
        if self._processes is not None and len(members) > self._processes:
            return "processes"
        if self._memory is not None and sum(map(_held_by, members)) > self._memory:
            return "memory"
        return ""


def _held_by(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def shown(size: int) -> str:
    """A size for people: 500 MB."""
    for unit, factor in _UNITS:
        if size >= factor:
            value = size / factor
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"
    return f"{size} bytes"


def ended_for(name: str, limits: RunLimits) -> str:
    """Say why a command was ended; begins with `ENDED`."""
    if name == "output":
        return f"{ENDED}it wrote more than {shown(limits.output or 0)} of output (limit_output)"
    if name == "memory":
        return f"{ENDED}it held more than {shown(limits.memory or 0)} of memory (limit_memory)"
    return f"{ENDED}it had more than {limits.processes} processes at a time (limit_processes)"


def failed_for(limits: RunLimits, *, exit_code: int, said: str) -> tuple[str, ...]:
    """Name the limit that a failed command probably met, where the kernel only told the program."""
    import signal

    notes = []
    too_large = (
        exit_code == 128 + getattr(signal, "SIGXFSZ", 25) or "File too large" in said or "File size limit" in said
    )
    if limits.file_size is not None and too_large:
        most = shown(limits.file_size)
        notes.append(f"a file may be no larger than {most} (limit_file_size); one it wrote reached that")
    out = ("Cannot allocate memory", "MemoryError", "out of memory", "bad_alloc", "memory exhausted")
    if limits.memory is not None and any(text in said for text in out):
        most = shown(limits.memory)
        notes.append(f"a process may hold no more than {most} of memory (limit_memory); it asked for more")
    if limits.processes is not None and "fork: " in said and "Resource temporarily unavailable" in said:
        notes.append(f"no more than {limits.processes} processes at a time (limit_processes); it wanted more")
    return tuple(notes)
