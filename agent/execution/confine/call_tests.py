"""Tests of one system call each, as pieces of a seccomp filter, and the numbers of the calls. Standard library only.

A piece begins and ends with the call's number loaded, so that pieces can stand in any order.
"""

from __future__ import annotations

import errno
import os

from agent.execution import kernel
from agent.execution.kernel import Instruction

LOAD, EQUAL, ANY_BIT, AND, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x54, 0x35, 0x06
_NUMBER, _PROCESSOR = 0, 4  # offsets in what the kernel shows a filter; the six arguments follow from 16
_X32 = 0x40000000

NUMBERS: dict[str, tuple[int | None, int | None]] = {  # on x86_64, on aarch64 (None: there is no such call)
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
}  # fmt: skip


def number(name: str) -> int | None:
    """The number of a call on this processor, None where it has no such call."""
    return NUMBERS[name][0 if kernel.machine() == "x86_64" else 1]


def opening() -> list[Instruction]:
    """How every filter begins. Raises OSError (ENOSYS) where the numbers of this processor are not known."""
    arch = kernel.AUDIT_ARCH.get(kernel.machine())
    if arch is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), "seccomp")
    return [
        (LOAD, 0, 0, _PROCESSOR),
        (EQUAL, 1, 0, arch),
        refuse(errno.ENOSYS),  # other numbers mean other calls: programs for another processor do not run
        (LOAD, 0, 0, _NUMBER),
        (AT_LEAST, 0, 1, _X32),
        refuse(errno.ENOSYS),
    ]


def refuse(code: int) -> Instruction:
    """The call fails with this errno."""
    return (RETURN, 0, 0, kernel.SECCOMP_RET_ERRNO | code)


def never(name: str, code: int) -> list[Instruction]:
    """The call always fails."""
    return _answered(name, refuse(code))


def _answered(name: str, answer: Instruction) -> list[Instruction]:
    call = number(name)
    return [] if call is None else [(EQUAL, 0, 1, call), answer]


def asked(name: str) -> list[Instruction]:
    """Whoever listens decides about the call."""
    return _answered(name, ASK)


ASK: Instruction = (RETURN, 0, 0, kernel.SECCOMP_RET_USER_NOTIF)


def flagged(name: str, place: int, flags: int, answer: Instruction) -> list[Instruction]:
    """`answer` where an argument has one of `flags`."""
    return with_argument(name, place, [(ANY_BIT, 0, 1, flags), answer])


def with_argument(name: str, place: int, tests: list[Instruction]) -> list[Instruction]:
    """`tests` on the lower half of an argument of one call."""
    call = number(name)
    if call is None:
        return []
    body = [(LOAD, 0, 0, 16 + 8 * place), *tests, (LOAD, 0, 0, _NUMBER)]
    return [(EQUAL, 0, len(body), call), *body]


def unless(name: str, allowed: tuple[tuple[int, int], ...], answer: Instruction) -> list[Instruction]:
    """`answer` unless an argument at one of these places has the value that stands beside it."""
    call = number(name)
    if call is None:
        return []
    tests: list[Instruction] = []
    for index, (place, value) in enumerate(allowed):
        tests += [(LOAD, 0, 0, 16 + 8 * place), (EQUAL, 2 * (len(allowed) - index) - 1, 0, value)]
    body = [*tests, answer, (LOAD, 0, 0, _NUMBER)]
    return [(EQUAL, 0, len(body), call), *body]
