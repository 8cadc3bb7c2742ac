"""The seccomp filter of a confined process: what neither mounts nor Landlock stop. Standard library only.

A filter sees numbers, never what a pointer leads to: it refuses whole calls, and some by a flag.
"""

from __future__ import annotations

import errno
import os

from agent.execution import kernel
from agent.execution.kernel import Instruction

_LOAD, _EQUAL, _ANY_BIT, _AND, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x35, 0x06
_NUMBER, _PROCESSOR = 0, 4  # offsets in what the kernel shows a filter; the six arguments follow from 16
_X32 = 0x40000000

_CALLS = {  # name: number on x86_64, on aarch64 (None: there is no such call)
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "clone": (56, 220),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_by_handle_at": (304, 265),
    "open": (2, None),
    "openat": (257, 56),
    "truncate": (76, 45),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "clone3": (435, 435),
    "openat2": (437, 437),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
}
_NAMESPACES = 0x7E020080  # CLONE_NEW…: time, mount, cgroup, uts, ipc, user, pid, net
_MOUNTS = (
    "setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "open_tree_attr",
)  # fmt: skip
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SOCKET_KIND, _DATAGRAM, _RAW = 0xF, 2, 3
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
_O_TRUNC = os.O_TRUNC | os.O_ACCMODE if hasattr(os, "O_ACCMODE") else os.O_TRUNC | 3


def program(*, files: bool, network: bool, own_network: bool, truncation: bool) -> list[Instruction]:
    """A filter. `files`: writing is confined, so Unix sockets (others would write for us) are refused. `network`: it may be used.

    `own_network`: there is a network namespace, in which it can talk to itself. `truncation`: by path, which an old Landlock misses.
    Raises OSError (ENOSYS) where the numbers of this processor are not known.
    """
    arch = kernel.AUDIT_ARCH.get(kernel.machine())
    if arch is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), "seccomp")
    lines: list[Instruction] = [
        (_LOAD, 0, 0, _PROCESSOR),
        (_EQUAL, 1, 0, arch),
        _refuse(errno.ENOSYS),  # other numbers mean other calls: programs for another processor do not run
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _refuse(errno.ENOSYS),
    ]
    lines += _never("io_uring_setup", errno.ENOSYS)  # it would open sockets and files past this filter
    lines += _never("clone3", errno.ENOSYS)  # its flags are behind a pointer; everybody falls back to clone
    lines += _flagged("clone", 0, _NAMESPACES, errno.EPERM)
    lines += _flagged("unshare", 0, _NAMESPACES, errno.EPERM)
    for name in _MOUNTS:
        lines += _never(name, errno.EPERM)
    for request in _TYPE_INTO_TERMINAL:
        lines += _with_argument("ioctl", 1, [(_EQUAL, 0, 1, request), _refuse(errno.EPERM)])
    lines += _sockets(files=files, network=network, own_network=own_network)
    if truncation:
        lines += _never("truncate", errno.EACCES) + _never("openat2", errno.ENOSYS)
        for name, place in (("open", 1), ("openat", 2)):
            # Truncating with the right to read only: 0 is O_RDONLY.
            lines += _with_argument(
                name, place, [(_AND, 0, 0, _O_TRUNC), (_EQUAL, 0, 1, os.O_TRUNC), _refuse(errno.EACCES)]
            )
    return [*lines, (_RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)]


def install(lines: list[Instruction]) -> None:
    """For this process and all it will start; needs no_new_privs or CAP_SYS_ADMIN. Raises OSError."""
    kernel.seccomp_filter(lines)


def _sockets(*, files: bool, network: bool, own_network: bool) -> list[Instruction]:
    if not files and network:
        return []
    # One of a pair of datagram sockets can be sent to, or connected, elsewhere; a stream cannot.
    pairs = [(_AND, 0, 0, _SOCKET_KIND), (_EQUAL, 1, 0, _DATAGRAM), (_EQUAL, 0, 1, _RAW), _refuse(errno.EACCES)]
    pair = _with_argument("socketpair", 1, pairs) if files else []
    if network:
        return pair + _with_argument("socket", 0, [(_EQUAL, 0, 1, AF_UNIX), _refuse(errno.EACCES)])
    kinds = [] if files else [AF_UNIX]
    kinds += [AF_INET, AF_INET6, AF_NETLINK] if own_network else [AF_NETLINK]
    tests = [(_EQUAL, len(kinds) - place, 0, kind) for place, kind in enumerate(kinds)]
    return pair + _with_argument("socket", 0, [*tests, _refuse(errno.EACCES)])


def _number(name: str) -> int | None:
    return _CALLS[name][0 if kernel.machine() == "x86_64" else 1]


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, kernel.SECCOMP_RET_ERRNO | number)


def _never(name: str, number: int) -> list[Instruction]:
    call = _number(name)
    return [] if call is None else [(_EQUAL, 0, 1, call), _refuse(number)]


def _flagged(name: str, place: int, flags: int, number: int) -> list[Instruction]:
    return _with_argument(name, place, [(_ANY_BIT, 0, 1, flags), _refuse(number)])


def _with_argument(name: str, place: int, tests: list[Instruction]) -> list[Instruction]:
    """`tests` on the lower half of an argument of one call; afterwards the call's number is loaded again."""
    call = _number(name)
    if call is None:
        return []
    body = [(_LOAD, 0, 0, 16 + 8 * place), *tests, (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(body), call), *body]
