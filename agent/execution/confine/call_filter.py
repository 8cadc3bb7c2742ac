"""Build the seccomp filter of a confined process: what neither mounts nor Landlock stop. Standard library only.

A filter sees numbers, never what a pointer leads to: it refuses whole calls, and some by a flag.
"""

from __future__ import annotations

import errno
import os

from agent.execution.system_calls import (
    ALLOW,
    AND,
    AT_LEAST,
    EQUAL,
    LOAD,
    Instruction,
    any_of,
    flagged,
    high,
    low,
    never,
    one_of,
    opening,
    refuse,
    unless,
    unless_any,
    with_argument,
)  # fmt: skip

NAMESPACES = 0x7E020080  # CLONE_NEW…: time, mount, cgroup, uts, ipc, user, pid, net
MOUNTS = (
    "setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "open_tree_attr",
)  # fmt: skip
TYPE_INTO_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCKET_KIND, STREAM, DATAGRAM, RAW = 0xF, 1, 2, 3
_REACH_OTHERS = (
    "process_vm_writev", "process_madvise", "process_mrelease", "migrate_pages", "move_pages", "add_key", "request_key", "keyctl",
)  # fmt: skip
_IPC_CREAT = 0o1000
_IPC_CHANGES = {
    ("shmctl", 1): (0, 1, 11, 12),  # IPC_RMID, IPC_SET, SHM_LOCK, SHM_UNLOCK
    ("semctl", 2): (0, 1, 16, 17),  # IPC_RMID, IPC_SET, SETVAL, SETALL
    ("msgctl", 1): (0, 1),
}
_SCHED_CORE = 62  # PR_SCHED_CORE: which processes may share a core with others
_OWNING = (8, 15, 1024, 1036, 1038)  # F_SETOWN, F_SETOWN_EX, F_SETLEASE, F_SET_RW_HINT, F_SET_FILE_RW_HINT
_O_TRUNC = os.O_TRUNC | 3  # with the mode of access, of which 0 is O_RDONLY


def program(*, files: bool, network: bool, own: bool, truncation: bool) -> list[Instruction]:
    """A filter. `files`: writing is confined, so Unix sockets (others would write for us) are refused. `network`: it may be used.

    `own`: there are namespaces, in which it talks to itself and shares memory with itself. `truncation`: by path, which an old Landlock
    misses.
    Raises OSError (ENOSYS) where the numbers of this processor are not known.
    """
    lines = opening()
    # The first would open sockets and files past this filter; the flags of the other are behind a pointer, and everybody falls back.
    lines += never(("io_uring_setup", "clone3"), errno.ENOSYS) + never(MOUNTS, errno.EPERM)
    lines += namespaces() + any_of("ioctl", 1, TYPE_INTO_TERMINAL, refuse(errno.EPERM)) + untouched()
    if files:
        lines += no_datagram_pairs() + ([] if own else shared_memory())
    if files or not network:
        lines += _sockets(files=files, network=network, own=own)
    if truncation:
        lines += never(("truncate",), errno.EACCES) + never(("openat2",), errno.ENOSYS)
        for name, place in (("open", 1), ("openat", 2)):  # truncating with the right to read only
            cut = [(AND, 0, 0, _O_TRUNC), (EQUAL, 0, 1, os.O_TRUNC), refuse(errno.EACCES)]
            lines += with_argument(name, place, cut)
    return [*lines, ALLOW]


def _sockets(*, files: bool, network: bool, own: bool) -> list[Instruction]:
    if network:
        return any_of("socket", 0, (AF_UNIX,), refuse(errno.EACCES))
    local = () if files else (AF_UNIX,)
    there = (AF_INET, AF_INET6, AF_NETLINK) if own else (AF_NETLINK,)
    return with_argument("socket", 0, unless_any((*local, *there), refuse(errno.EACCES)))


def namespaces() -> list[Instruction]:
    no = refuse(errno.EPERM)
    return flagged("clone", 0, NAMESPACES, no) + flagged("unshare", 0, NAMESPACES, no)


def no_datagram_pairs() -> list[Instruction]:
    """Refuse pairs of sockets of which one can be sent to, or connected, elsewhere; a stream cannot."""
    tests = [(AND, 0, 0, SOCKET_KIND), (EQUAL, 1, 0, DATAGRAM), (EQUAL, 0, 1, RAW), refuse(errno.EACCES)]
    return with_argument("socketpair", 1, tests)


def shared_memory() -> list[Instruction]:
    """Refuse memory, semaphores and queues that are no files, but for looking at them: whose they are, no number or name tells."""
    lines = never(("shmat", "semop", "semtimedop", "msgsnd", "msgrcv", "mq_open", "mq_unlink"), errno.EPERM)
    for name, place in (("shmget", 2), ("semget", 2), ("msgget", 1)):
        lines += flagged(name, place, _IPC_CREAT, refuse(errno.EACCES))
    for (name, place), changes in _IPC_CHANGES.items():
        lines += with_argument(name, place, [(AND, 0, 0, 0xFF), *one_of(changes, refuse(errno.EPERM))])
    return lines


def untouched() -> list[Instruction]:
    """Refuse reaching other processes: limits, priorities, memory, the person's keys. Of a set none can be told from outsiders."""
    no = refuse(errno.EPERM)
    lines = never(_REACH_OTHERS, errno.EPERM) + any_of("prctl", 0, (_SCHED_CORE,), no)
    for name in ("sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"):
        lines += unless(name, 0, 0, no)  # 0 is whoever calls
    for name, process in (("setpriority", 0), ("ioprio_set", 1)):  # which kind of number the second argument is
        lines += unless(name, 0, process, no) + unless(name, 1, 0, no)
    # Asking for limits of others is reading. New ones are behind a pointer of two halves, none where it is 0.
    limits = [(EQUAL, 5, 0, 0), (LOAD, 0, 0, low(2)), (AT_LEAST, 2, 0, 1), (LOAD, 0, 0, high(2)), (EQUAL, 1, 0, 0), no]
    return lines + with_argument("prlimit64", 0, limits)


def unowned() -> list[Instruction]:
    """Refuse what makes the kernel send signals to others later, or lets them wait: owning a file, a lease; and hints on files."""
    return any_of("fcntl", 1, _OWNING, refuse(errno.EPERM))
