"""Filter the calls by which a process reaches others: their limits, priorities, memory and the person's keys. Standard library only."""

from __future__ import annotations

import errno

from agent.execution.confine.call_tests import (
    AT_LEAST,
    EQUAL,
    LOAD,
    never,
    refuse,
    unless,
    with_argument,
)
from agent.execution.kernel import Instruction

_NEVER = (
    "process_vm_writev", "process_madvise", "process_mrelease", "migrate_pages", "move_pages",
    "add_key", "request_key", "keyctl",
)  # fmt: skip
_OWNING = (8, 15, 1024, 1036, 1038)  # F_SETOWN, F_SETOWN_EX, F_SETLEASE, F_SET_RW_HINT, F_SET_FILE_RW_HINT
_ITSELF = (0, 0)  # the first argument is a process, and 0 is whoever calls


def untouched() -> list[Instruction]:
    """Refuse them for every process but the one that calls. Of a set of processes none can be told from outsiders, so they are refused."""
    no = refuse(errno.EPERM)
    lines: list[Instruction] = []
    for name in _NEVER:
        lines += never(name, errno.EPERM)
    for name in ("sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"):
        lines += unless(name, (_ITSELF,), no)
    for name, process in (("setpriority", 0), ("ioprio_set", 1)):  # which kind of number the second argument is
        lines += with_argument(name, 0, [(EQUAL, 1, 0, process), no])
        lines += unless(name, ((1, 0),), no)
    return lines + _limits(no)


def unowned() -> list[Instruction]:
    """Refuse what makes the kernel send signals to others later, or lets them wait: owning a file, a lease; and hints on files."""
    no = refuse(errno.EPERM)
    return [line for command in _OWNING for line in with_argument("fcntl", 1, [(EQUAL, 0, 1, command), no])]


def _limits(no: Instruction) -> list[Instruction]:
    """Setting limits of others; asking for them is reading. The new ones are behind a pointer of two halves, none where it is 0."""
    low, high = 16 + 8 * 2, 16 + 8 * 2 + 4
    return with_argument(
        "prlimit64",
        0,
        [(EQUAL, 5, 0, 0), (LOAD, 0, 0, low), (AT_LEAST, 2, 0, 1), (LOAD, 0, 0, high), (EQUAL, 1, 0, 0), no],
    )
