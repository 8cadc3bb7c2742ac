"""System calls that the standard library does not have: namespaces, mounts, Landlock, seccomp, capabilities.

Every function raises OSError with the kernel's errno; where the system has no such call (another kernel, another processor) it is
ENOSYS. Paths are bytes. Standard library only: it runs in the helper process, between fork and exec.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import os
import signal
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

# unshare(2)
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# mount(2)
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

# mount_setattr(2), open_tree(2), move_mount(2)
MOUNT_ATTR_RDONLY = 0x01
MOUNT_ATTR_NOSUID = 0x02
MOUNT_ATTR_NODEV = 0x04
MOUNT_ATTR_NOEXEC = 0x08
AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else 0
MOVE_MOUNT_F_EMPTY_PATH = 0x04

# openat2(2)
RESOLVE_NO_MAGICLINKS = 0x02

# renameat2(2)
RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2

# clone3(2)
CLONE_INTO_CGROUP = 0x200000000

# prctl(2)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

# capabilities(7)
CAP_NET_ADMIN = 12
CAP_SYS_MODULE = 16
CAP_SYS_RAWIO = 17
CAP_SYS_CHROOT = 18
CAP_SYS_PTRACE = 19
CAP_SYS_ADMIN = 21
CAP_SYS_BOOT = 22
CAP_SYS_TIME = 25
CAP_MKNOD = 27

# landlock(7)
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1

# seccomp(2)
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_USER_NOTIF = 0x7FC00000
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1

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
    "capget": (125, 90), "capset": (126, 91), "syncfs": (306, 267), "seccomp": (317, 277), "pidfd_open": (434, 434),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}  # fmt: skip
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What a seccomp filter sees as the processor, by `machine()`."""

_CAP_HEADER = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_LOCKED_LIBC = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock during a call


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
    """What a call raises that fails with this errno."""
    return OSError(number, os.strerror(number), name)


def _libc(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call a libc function that answers -1 and sets errno."""
    function = getattr(_LIBC, name, None)
    if function is None:
        raise error(errno.ENOSYS, name)
    return _answered(name, function, arguments)


def _syscall(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    return _answered(name, _LIBC.syscall, (number_of(name), *arguments))


def _answered(name: str, function: Any, arguments: Iterable[object]) -> int:
    result = int(function(*(ctypes.c_long(word) if isinstance(word, int) else word for word in arguments)))
    if result == -1:
        raise error(ctypes.get_errno(), name)
    return result


# --- namespaces ---


def unshare(flags: int) -> None:
    """Leave the parent's namespaces (CLONE_NEW…)."""
    _libc("unshare", flags)


def pivot_root(new_root: bytes, put_old: bytes) -> None:
    """Make `new_root` the root of this mount namespace; the old one goes to `put_old`."""
    _syscall("pivot_root", new_root, put_old)


# --- mounts ---


def mount(
    source: bytes | None, target: bytes, kind: bytes | None = None, flags: int = 0, data: bytes | None = None
) -> None:
    """mount(2); `flags` are MS_…, `data` the options of the file system."""
    _libc("mount", source, target, kind, flags, data)


def umount(target: bytes, flags: int = 0) -> None:
    _libc("umount2", target, flags)


def mount_setattr(path: bytes, *, add: int, flags: int = 0, folder: int = AT_FDCWD) -> None:
    """Add attributes (MOUNT_ATTR_…) to the mount at `path`, with AT_RECURSIVE in `flags` of all below it too."""
    attributes = struct.pack("=QQQQ", add, 0, 0, 0)
    _syscall("mount_setattr", folder, path, flags, attributes, len(attributes))


def open_tree(path: bytes, flags: int) -> int:
    """A descriptor of the mount at `path`; with OPEN_TREE_CLONE of a detached copy (AT_RECURSIVE: with all below)."""
    return _syscall("open_tree", AT_FDCWD, path, flags)


def move_mount(source: int, target: bytes) -> None:
    """Attach the mount behind descriptor `source` at `target`."""
    _syscall("move_mount", source, b"", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH)


# --- files ---


@contextmanager
def closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


def renameat2(
    source: bytes, target: bytes, flags: int, *, source_folder: int = AT_FDCWD, target_folder: int = AT_FDCWD
) -> None:
    call = _libc if hasattr(_LIBC, "renameat2") else _syscall  # C libraries have it since about 2018
    call("renameat2", source_folder, source, target_folder, target, flags)


def openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """Open what is there with RESOLVE_… limits on how it may be found."""
    how = struct.pack("=QQQ", flags, 0, resolve)
    return _syscall("openat2", folder, path, how, len(how))


def open_once(path: bytes, flags: int) -> int:
    """open(2) that a signal interrupts (EINTR), which Python's own never is."""
    return _libc("open", path, flags)


def set_times(path: bytes, times: bytes | None) -> None:
    """utimensat(2): two `timespec` as the kernel takes them, None for now."""
    _libc("utimensat", AT_FDCWD, path, times, 0)


def syncfs(fd: int) -> None:
    _syscall("syncfs", fd)


# --- processes ---


def fork_into(cgroup: int) -> int:
    """Like `os.fork`, but the child begins in the control group whose folder is behind descriptor `cgroup`.

    Only for a process with one thread: Python's own precautions around a fork are for others.
    """
    wanted = struct.pack("=11Q", CLONE_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, cgroup)
    # Not through `_syscall`: that gives up the interpreter's lock, which the child could not take again.
    call = _LOCKED_LIBC.syscall
    call.restype = ctypes.c_long
    pid = int(call(ctypes.c_long(number_of("clone3")), wanted, ctypes.c_size_t(len(wanted))))
    if pid < 0:
        raise error(ctypes.get_errno(), "clone3")
    return pid


def prctl(option: int, *arguments: int) -> int:
    return _libc("prctl", option, *(*arguments, 0, 0, 0, 0)[:4])


def no_new_privileges() -> None:
    """From here on no setuid program gains anything (so sudo is dead); needed for Landlock and seccomp without privilege."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding(capabilities: Iterable[int]) -> None:
    """Take `capabilities` away for good: even a setuid program started later does not get them."""
    for capability in capabilities:
        prctl(PR_CAPBSET_DROP, capability)


def drop_capabilities(capabilities: Iterable[int] | None = None) -> None:
    """Clear `capabilities` (all, if None) of this process: effective, permitted, inheritable and ambient."""
    with suppress(OSError):  # a kernel before 4.3 has none
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    effective, permitted, inheritable, *high = _capabilities()
    keep = ~0
    for capability in range(64) if capabilities is None else capabilities:
        keep &= ~(1 << capability)
    low_mask, high_mask = keep & 0xFFFFFFFF, (keep >> 32) & 0xFFFFFFFF
    words = [word & low_mask for word in (effective, permitted, inheritable)] + [word & high_mask for word in high]
    _syscall("capset", _CAP_HEADER, struct.pack("=6I", *words))


def has_capability(capability: int) -> bool:
    try:
        data = _capabilities()
    except OSError:
        return False
    return bool(data[0 if capability < 32 else 3] >> (capability % 32) & 1)


def _capabilities() -> tuple[int, ...]:
    """Effective, permitted and inheritable, of the lower 32 and then of the upper."""
    data = ctypes.create_string_buffer(24)
    _syscall("capget", _CAP_HEADER, data)
    return struct.unpack("=6I", data.raw)


def pidfd_open(pid: int) -> int:
    """A descriptor for a process, immune to the reuse of its number."""
    return _syscall("pidfd_open", pid, 0)


def pidfd_getfd(pidfd: int, fd: int) -> int:
    return _syscall("pidfd_getfd", pidfd, fd, 0)


# --- sockets ---


def connect(fd: int, address: bytes) -> None:
    _libc("connect", fd, address, len(address))


def bind(fd: int, address: bytes) -> None:
    _libc("bind", fd, address, len(address))


# --- Landlock ---


def landlock_version() -> int:
    """The Landlock ABI of this kernel, 0 where there is none."""
    try:
        return _syscall("landlock_create_ruleset", 0, 0, LANDLOCK_CREATE_RULESET_VERSION)
    except OSError:
        return 0


def landlock_create_ruleset(filesystem: int, network: int = 0, scoped: int = 0) -> int:
    """A ruleset that handles these accesses, as a descriptor. `network` needs ABI 4, `scoped` ABI 6: leave them 0 before."""
    size = 24 if scoped else 16 if network else 8
    attributes = struct.pack("=QQQ", filesystem, network, scoped)[:size]
    return _syscall("landlock_create_ruleset", attributes, size, 0)


def landlock_allow_path(ruleset: int, access: int, fd: int) -> None:
    """Allow `access` to the file behind `fd`, or to everything beneath the folder."""
    rule = struct.pack("=Qi", access, fd)
    _syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)


def landlock_restrict_self(ruleset: int) -> None:
    """Put this process and all it will start under the ruleset. Needs no_new_privs or CAP_SYS_ADMIN."""
    _syscall("landlock_restrict_self", ruleset, 0)


# --- seccomp ---

Instruction = tuple[int, int, int, int]
"""One classic BPF instruction: code, jump if true, jump if false, constant."""


def packed(program: list[Instruction]) -> bytes:
    """A filter as the kernel takes it; made before a fork it costs the child nothing."""
    return struct.pack(f"={'HBBI' * len(program)}", *itertools.chain.from_iterable(program))


def seccomp_filter(program: list[Instruction] | bytes, flags: int = 0) -> int:
    """Install a filter; needs no_new_privs or CAP_SYS_ADMIN.

    With SECCOMP_FILTER_FLAG_NEW_LISTENER in `flags` it returns the descriptor on which the kernel asks, else 0.
    """
    code = program if isinstance(program, bytes) else packed(program)
    pointer = ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p).value
    header = struct.pack("@HP", len(code) // 8, pointer)
    return _syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, header)


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
    """What the call returns, an errno where it is negative; with SECCOMP_USER_NOTIF_FLAG_CONTINUE in `flags` the kernel does it."""
    packed_answer = _ANSWER.pack(key, max(value, 0), min(value, 0), flags)
    with suppress(OSError):  # nobody waits for it any more
        fcntl.ioctl(listener, _SEND, bytearray(packed_answer))
