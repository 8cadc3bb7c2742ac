"""The seccomp filter of a command that is held to its rating: writing by name, sockets and signals are asked about, the rest is refused.

Reading, and what is done to files that are open for writing, goes past it at full speed. Standard library only.
"""

from __future__ import annotations

import errno
import os
from functools import cache

from agent.execution import kernel
from agent.execution.confine import call_filter, other_processes
from agent.execution.confine.call_tests import (
    AND,
    ASK,
    AT_LEAST,
    EQUAL,
    LOAD,
    RETURN,
    asked,
    flagged,
    never,
    opening,
    refuse,
    with_argument,
)
from agent.execution.confine.lock import requests
from agent.execution.kernel import Instruction

_KNOWN = 463  # calls of later kernels may do what nobody here has heard of
_LATER_READS = (464, 465, 468)  # getxattrat, listxattrat, file_getattr
_BY_NAME = (
    "creat", "truncate", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link", "linkat",
    "symlink", "symlinkat", "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat",
    "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
_ANSWERED = (*_BY_NAME, "connect", "bind", "ptrace", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_NEVER = (
    "pidfd_getfd", "bpf", "perf_event_open", "userfaultfd", "swapon", "swapoff", "reboot", "sethostname", "setdomainname",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "acct", "settimeofday", "clock_settime", "adjtimex",
    "clock_adjtime", "quotactl", "quotactl_fd", "vhangup", "iopl", "ioperm", "shmat", "semop", "semtimedop", "msgsnd", "msgrcv",
    "mq_open", "mq_unlink",
)  # fmt: skip
_CREATES = 0o1000  # IPC_CREAT
_REMOVE_OR_SET = (0, 1, 16, 17)  # IPC_RMID, IPC_SET, SETVAL, SETALL
_NETLINK_USERSOCK = 2
_NETWORKS = (call_filter.AF_UNIX, call_filter.AF_INET, call_filter.AF_INET6, call_filter.AF_NETLINK, 17)
"""Families of sockets that a right to the network means: the last is the packets of its own links (AF_PACKET), no other machine's host."""
_EXCLUSIVE = 2  # LOCK_EX
_WRITING = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | (getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0))
)


def program(*, network: bool) -> list[Instruction]:
    """The filter. `network`: it may be used. Raises OSError (ENOSYS)."""
    lines = opening()
    for later in _LATER_READS:
        lines += [(EQUAL, 0, 1, later), (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)]
    lines += [(AT_LEAST, 0, 1, _KNOWN), refuse(errno.ENOSYS)]
    for name in ("io_uring_setup", "clone3", "openat2"):  # what they want stands behind a pointer; everybody falls back
        lines += never(name, errno.ENOSYS)
    for name, place in (("open", 1), ("openat", 2)):
        lines += flagged(name, place, _WRITING, ASK)
    for name in _ANSWERED:
        lines += asked(name)
    for name in (*call_filter.MOUNTS, *_NEVER):
        lines += never(name, errno.EPERM)
    for name in ("clone", "unshare"):
        lines += flagged(name, 0, call_filter.NAMESPACES, refuse(errno.EPERM))
    lines += with_argument("pidfd_send_signal", 1, [(EQUAL, 1, 0, 0), refuse(errno.EPERM)])
    lines += other_processes.untouched() + other_processes.unowned()
    lines += flagged("flock", 1, _EXCLUSIVE, ASK)
    lines += _shared_memory() + requests.filtered() + _sockets(network=network)
    lines += with_argument("syslog", 0, [(AT_LEAST, 0, 2, 4), (AT_LEAST, 1, 0, 9), refuse(errno.EPERM)])
    return [*lines, (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)]


@cache
def _for_all(*, network: bool) -> tuple[bytes, bytes]:
    """What of the filter is the same for all commands: all but its last instruction, and that."""
    *lines, last = program(network=network)
    return kernel.packed(lines), kernel.packed([last])


def apart(group: int, *, network: bool) -> bytes:
    """The filter, packed, of a command that may not join one group of processes: that of its guardian, whom a signal to its own would end.

    Quick in a process that was forked from one that has called it.
    """
    lines, last = _for_all(network=network)
    return lines + kernel.packed(with_argument("setpgid", 1, [(EQUAL, 0, 1, group), refuse(errno.EPERM)])) + last


def nothing_sent() -> list[Instruction]:
    """A second filter, over sockets that only ask the kernel: what they would send by an address goes nowhere. Raises OSError (ENOSYS)."""
    lines = opening()
    for name in ("sendmsg", "sendmmsg", "listen"):
        lines += never(name, errno.EACCES)
    # Without an address it goes where the socket is connected; an address is a pointer of two halves.
    nowhere = [(EQUAL, 0, 2, 0), (LOAD, 0, 0, 16 + 8 * 4 + 4), (EQUAL, 1, 0, 0), refuse(errno.EACCES)]
    lines += with_argument("sendto", 4, nowhere)
    return [*lines, (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)]


def _shared_memory() -> list[Instruction]:
    lines: list[Instruction] = []
    for name, place in (("shmget", 2), ("semget", 2), ("msgget", 1)):
        lines += flagged(name, place, _CREATES, refuse(errno.EACCES))
    for name, place in (("shmctl", 1), ("semctl", 2), ("msgctl", 1)):
        for command in _REMOVE_OR_SET:
            lines += with_argument(name, place, [(AND, 0, 0, 0xFF), (EQUAL, 0, 1, command), refuse(errno.EPERM)])
    return lines


def _sockets(*, network: bool) -> list[Instruction]:
    """A socket that could reach something is asked about when it is made, or when it is connected."""
    datagram = [(AND, 0, 0, 0xF), (EQUAL, 1, 0, 2), (EQUAL, 0, 1, 3), refuse(errno.EACCES)]
    lines = with_argument("socketpair", 1, datagram)
    # What one program may send to another by netlink without any right.
    lines += with_argument(
        "socket",
        0,
        [
            (EQUAL, 0, 3, call_filter.AF_NETLINK),
            (LOAD, 0, 0, 16 + 8 * 2),
            (EQUAL, 0, 1, _NETLINK_USERSOCK),
            refuse(errno.EACCES),
        ],
    )
    kind = 16 + 8 * 1
    if network:
        # What is sent to the name of a Unix socket without connecting goes past `connect`.
        local = [(EQUAL, 0, 5, call_filter.AF_UNIX), (LOAD, 0, 0, kind), *datagram[:3], ASK]
        known = [(EQUAL, len(_NETWORKS) - place, 0, family) for place, family in enumerate(_NETWORKS)]
        return lines + with_argument("socket", 0, local) + with_argument("socket", 0, [*known, ASK])
    yes: Instruction = (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)
    stream = [(EQUAL, 0, 4, call_filter.AF_UNIX), (LOAD, 0, 0, kind), (AND, 0, 0, 0xF), (EQUAL, 0, 1, 1), yes]
    return lines + with_argument("socket", 0, [(EQUAL, 0, 1, call_filter.AF_NETLINK), yes, *stream, ASK])
