"""Make any system call by its name, and build seccomp filters from tests of one call each, install them, answer what they ask.

Numbers are this processor's, errors come as OSError. A piece of a filter begins and ends with the call's number loaded, so that pieces can
stand in any order. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

_NUMBERS: dict[str, tuple[int | None, int | None]] = {  # on x86_64, on aarch64 (None: there is no such call)
    "open": (2, None), "creat": (85, None), "openat": (257, 56), "openat2": (437, 437), "open_by_handle_at": (304, 265),
    "truncate": (76, 45), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35),
    "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
    "mknod": (133, None), "mknodat": (259, 33),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "ioctl": (16, 29), "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "io_uring_setup": (425, 425),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "prlimit64": (302, 261), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "ptrace": (101, 117), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "pidfd_getfd": (438, 438), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "swapon": (167, 224),
    "swapoff": (168, 225), "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "fcntl": (72, 25), "flock": (73, 32), "setpgid": (109, 154),
    "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None), "syslog": (103, 116),
    "prctl": (157, 167), "capget": (125, 90), "capset": (126, 91), "syncfs": (306, 267), "seccomp": (317, 277), "pidfd_open": (434, 434),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}  # fmt: skip
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The processor as a seccomp filter sees it, by `machine()`."""

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
LOCKED_LIBC = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock during a call


@cache
def machine() -> str:
    """The processor as the tables here call it: x86_64, aarch64, or whatever `uname` says."""
    name = os.uname().machine if sys.platform == "linux" else ""
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name.lower(), name)


def number(name: str) -> int | None:
    """The number of a system call on this processor, None where it has no such call."""
    return _NUMBERS[name][0 if machine() == "x86_64" else 1]


def number_of(name: str) -> int:
    """The same. Raises OSError (ENOSYS) where it is not known."""
    found = number(name) if machine() in AUDIT_ARCH else None
    if found is None:
        raise error(errno.ENOSYS, name)
    return found


def error(number: int, name: str | None = None) -> OSError:
    """The error for a call that fails with this errno."""
    return OSError(number, os.strerror(number), name)


def libc(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call a libc function that answers -1 and sets errno."""
    function = getattr(LIBC, name, None)
    if function is None:
        raise error(errno.ENOSYS, name)
    return _answered(name, function, arguments)


def syscall(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    return _answered(name, LIBC.syscall, (number_of(name), *arguments))


def _answered(name: str, function: Any, arguments: Iterable[object]) -> int:
    result = int(function(*(ctypes.c_long(word) if isinstance(word, int) else word for word in arguments)))
    if result == -1:
        raise error(ctypes.get_errno(), name)
    return result


SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_USER_NOTIF = 0x7FC00000
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1

Instruction = tuple[int, int, int, int]
"""One classic BPF instruction: code, jump if true, jump if false, constant."""
INSTRUCTION_SIZE = 8

LOAD, EQUAL, ANY_BIT, AND, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x54, 0x35, 0x06
_NUMBER, _PROCESSOR = 0, 4  # offsets in what the kernel shows a filter; the six arguments follow from 16
_X32 = 0x40000000
ALLOW: Instruction = (RETURN, 0, 0, SECCOMP_RET_ALLOW)
ASK: Instruction = (RETURN, 0, 0, SECCOMP_RET_USER_NOTIF)
"""Whoever listens decides."""


def refuse(code: int) -> Instruction:
    return (RETURN, 0, 0, SECCOMP_RET_ERRNO | code)


def opening(other: list[Instruction] | None = None) -> list[Instruction]:
    """Begin a filter. Raises OSError (ENOSYS) where the numbers of this processor are not known.

    `other`: what answers programs for another processor, for which numbers mean other calls; without it they do not run.
    """
    arch = AUDIT_ARCH.get(machine())
    if arch is None:
        raise error(errno.ENOSYS, "seccomp")
    no = refuse(errno.ENOSYS)
    other = other or [no]
    here = [(LOAD, 0, 0, _PROCESSOR), (EQUAL, len(other), 0, arch), *other]
    return [*here, (LOAD, 0, 0, _NUMBER), (AT_LEAST, 0, 1, _X32), no]


def low(place: int) -> int:
    """The offset of the lower half of an argument."""
    return 16 + 8 * place


def high(place: int) -> int:
    """The offset of the upper half of an argument."""
    return low(place) + 4


def answered(names: Iterable[str], answer: Instruction) -> list[Instruction]:
    """Calls that are answered whatever their arguments."""
    return one_of([call for call in map(number, names) if call is not None], answer)


def never(names: Iterable[str], code: int) -> list[Instruction]:
    return answered(names, refuse(code))


def with_argument(name: str, place: int, tests: Sequence[Instruction]) -> list[Instruction]:
    """`tests` on the lower half of an argument of one call."""
    call = number(name)
    if call is None:
        return []
    body = [(LOAD, 0, 0, low(place)), *tests, (LOAD, 0, 0, _NUMBER)]
    return [(EQUAL, 0, len(body), call), *body]


def flagged(name: str, place: int, flags: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, [(ANY_BIT, 0, 1, flags), answer])


def any_of(name: str, place: int, values: Iterable[int], answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, one_of(tuple(values), answer))


def one_of(values: Sequence[int], answer: Instruction) -> list[Instruction]:
    """Tests: `answer` where what is loaded is one of these."""
    if not values:
        return []
    *others, last = values
    return [
        *((EQUAL, len(others) - place, 0, value) for place, value in enumerate(others)),
        (EQUAL, 0, 1, last),
        answer,
    ]


def unless(name: str, place: int, value: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, unless_any((value,), answer))


def unless_any(values: Sequence[int], answer: Instruction) -> list[Instruction]:
    """Tests: `answer` unless what is loaded is one of these."""
    return [*((EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)), answer]


def packed(program: list[Instruction]) -> bytes:
    """A filter as the kernel takes it; made before a fork it costs the child nothing."""
    return struct.pack(f"={'HBBI' * len(program)}", *itertools.chain.from_iterable(program))


def seccomp_filter(program: list[Instruction] | bytes, flags: int = 0) -> int:
    """Install a filter; needs no_new_privs or CAP_SYS_ADMIN.

    With SECCOMP_FILTER_FLAG_NEW_LISTENER in `flags` it returns the descriptor on which the kernel asks, else 0.
    """
    code = program if isinstance(program, bytes) else packed(program)
    pointer = ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p).value
    header = struct.pack("@HP", len(code) // INSTRUCTION_SIZE, pointer)
    return syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, header)


_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_RECEIVE, _SEND = 0xC0502100, 0xC0182101


def notice(listener: int) -> tuple[int, int, int, list[int]]:
    """The next call that a filter asks about: its key, the thread's id, the number and the six words of the call."""
    message = bytearray(_NOTICE.size)
    fcntl.ioctl(listener, _RECEIVE, message)
    key, pid, _flags, call, _arch, _at, *words = _NOTICE.unpack(message)
    return key, pid, call, words


def answer(listener: int, key: int, value: int, flags: int = 0) -> None:
    """Let the call return this, an errno where it is negative; with SECCOMP_USER_NOTIF_FLAG_CONTINUE in `flags` the kernel does it."""
    packed_answer = _ANSWER.pack(key, max(value, 0), min(value, 0), flags)
    with suppress(OSError):  # nobody waits for it any more
        fcntl.ioctl(listener, _SEND, bytearray(packed_answer))
