"""The seccomp filter of a confined process: what neither mounts nor Landlock stop. Standard library only.

A filter sees numbers, never what a pointer leads to: it refuses whole calls, and some by a flag.
"""

from __future__ import annotations

import errno
import os

from agent.execution import kernel
from agent.execution.confine import other_processes
from agent.execution.confine.call_tests import (
    AND,
    EQUAL,
    RETURN,
    flagged,
    never,
    opening,
    refuse,
    with_argument,
)
from agent.execution.kernel import Instruction

NAMESPACES = 0x7E020080  # CLONE_NEW…: time, mount, cgroup, uts, ipc, user, pid, net
MOUNTS = (
    "setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "open_tree_attr",
)  # fmt: skip
TYPE_INTO_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SOCKET_KIND, _DATAGRAM, _RAW = 0xF, 2, 3
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
_O_TRUNC = os.O_TRUNC | os.O_ACCMODE if hasattr(os, "O_ACCMODE") else os.O_TRUNC | 3


def program(*, files: bool, network: bool, own_network: bool, truncation: bool) -> list[Instruction]:
    """A filter. `files`: writing is confined, so Unix sockets (others would write for us) are refused. `network`: it may be used.

    `own_network`: there is a network namespace, in which it can talk to itself. `truncation`: by path, which an old Landlock misses.
    Raises OSError (ENOSYS) where the numbers of this processor are not known.
    """
    lines = opening()
    lines += never("io_uring_setup", errno.ENOSYS)  # it would open sockets and files past this filter
    lines += never("clone3", errno.ENOSYS)  # its flags are behind a pointer; everybody falls back to clone
    lines += flagged("clone", 0, NAMESPACES, refuse(errno.EPERM))
    lines += flagged("unshare", 0, NAMESPACES, refuse(errno.EPERM))
    for name in MOUNTS:
        lines += never(name, errno.EPERM)
    for request in TYPE_INTO_TERMINAL:
        lines += with_argument("ioctl", 1, [(EQUAL, 0, 1, request), refuse(errno.EPERM)])
    lines += other_processes.untouched()
    lines += _sockets(files=files, network=network, own_network=own_network)
    if truncation:
        lines += never("truncate", errno.EACCES) + never("openat2", errno.ENOSYS)
        for name, place in (("open", 1), ("openat", 2)):
            # Truncating with the right to read only: 0 is O_RDONLY.
            lines += with_argument(
                name, place, [(AND, 0, 0, _O_TRUNC), (EQUAL, 0, 1, os.O_TRUNC), refuse(errno.EACCES)]
            )
    return [*lines, (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)]


def install(lines: list[Instruction]) -> None:
    """For this process and all it will start; needs no_new_privs or CAP_SYS_ADMIN. Raises OSError."""
    kernel.seccomp_filter(lines)


def _sockets(*, files: bool, network: bool, own_network: bool) -> list[Instruction]:
    if not files and network:
        return []
    # One of a pair of datagram sockets can be sent to, or connected, elsewhere; a stream cannot.
    pairs = [(AND, 0, 0, _SOCKET_KIND), (EQUAL, 1, 0, _DATAGRAM), (EQUAL, 0, 1, _RAW), refuse(errno.EACCES)]
    pair = with_argument("socketpair", 1, pairs) if files else []
    if network:
        return pair + with_argument("socket", 0, [(EQUAL, 0, 1, AF_UNIX), refuse(errno.EACCES)])
    kinds = [] if files else [AF_UNIX]
    kinds += [AF_INET, AF_INET6, AF_NETLINK] if own_network else [AF_NETLINK]
    tests = [(EQUAL, len(kinds) - place, 0, kind) for place, kind in enumerate(kinds)]
    return pair + with_argument("socket", 0, [*tests, refuse(errno.EACCES)])
