"""System calls that the standard library does not have: namespaces, mounts, Landlock, seccomp, capabilities.

Every function raises OSError with the kernel's errno; where the system has no such call (another kernel, another processor) it is
ENOSYS. Paths are bytes. Standard library only: it runs in the helper process, between fork and exec.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import signal
import struct
import sys

# unshare(2), setns(2)
CLONE_NEWTIME = 0x00000080
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
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
MS_REMOUNT = 32
MS_NOSYMFOLLOW = 256
MS_BIND = 4096
MS_MOVE = 8192
MS_REC = 16384
MS_UNBINDABLE = 1 << 17
MS_PRIVATE = 1 << 18
MS_SLAVE = 1 << 19
MNT_FORCE = 1
MNT_DETACH = 2
UMOUNT_NOFOLLOW = 8

# mount_setattr(2), open_tree(2), move_mount(2)
MOUNT_ATTR_RDONLY = 0x01
MOUNT_ATTR_NOSUID = 0x02
MOUNT_ATTR_NODEV = 0x04
MOUNT_ATTR_NOEXEC = 0x08
AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW = 0x100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else 0
MOVE_MOUNT_F_EMPTY_PATH = 0x04
MOVE_MOUNT_T_EMPTY_PATH = 0x40

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
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

# capabilities(7)
CAP_CHOWN = 0
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
LANDLOCK_RULE_NET_PORT = 2

# seccomp(2)
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3
SECCOMP_RET_KILL_PROCESS = 0x80000000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_USER_NOTIF = 0x7FC00000
SECCOMP_RET_ALLOW = 0x7FFF0000

_NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "capget": 125,
        "capset": 126,
        "pivot_root": 155,
        "syncfs": 306,
        "setns": 308,
        "renameat2": 316,
        "seccomp": 317,
        "socket": 41,
    },
    "aarch64": {
        "capget": 90,
        "capset": 91,
        "pivot_root": 41,
        "syncfs": 267,
        "setns": 268,
        "renameat2": 276,
        "seccomp": 277,
        "socket": 198,
    },
}
_EVERYWHERE = {  # new calls have one number on all processors
    "open_tree": 428,
    "move_mount": 429,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What a seccomp filter sees as the processor, by `machine()`."""

_CAP_HEADER = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
_LIBC = ctypes.CDLL(None, use_errno=True)
_RENAMEAT2 = getattr(_LIBC, "renameat2", None)  # C libraries have it since about 2018
if _RENAMEAT2 is not None:
    _RENAMEAT2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
_LOCKED_LIBC = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock during a call


def machine() -> str:
    """The processor as the tables here call it: x86_64, aarch64, or whatever `uname` says."""
    name = os.uname().machine if sys.platform == "linux" else ""
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name.lower(), name)


def number_of(name: str) -> int:
    """The number of a system call here. Raises OSError (ENOSYS) where it is not known."""
    numbers = _NUMBERS.get(machine(), {})
    if sys.platform != "linux" or not numbers:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    return numbers[name] if name in numbers else _EVERYWHERE[name]


def _failed(name: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), name)


def _libc(name: str, *arguments: object) -> int:
    """Call a libc function that answers -1 and sets errno."""
    function = getattr(_LIBC, name, None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    result: int = function(*arguments)
    if result == -1:
        raise _failed(name)
    return result


def _syscall(name: str, *arguments: object) -> int:
    number = number_of(name)
    _LIBC.syscall.restype = ctypes.c_long
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(_LIBC.syscall(ctypes.c_long(number), *words))
    if result == -1:
        raise _failed(name)
    return result


# --- namespaces ---


def unshare(flags: int) -> None:
    """Leave the parent's namespaces (CLONE_NEW…)."""
    _libc("unshare", ctypes.c_int(flags))


def setns(fd: int, kind: int = 0) -> None:
    """Enter the namespace behind `fd`."""
    _syscall("setns", fd, kind)


def pivot_root(new_root: bytes, put_old: bytes) -> None:
    """Make `new_root` the root of this mount namespace; the old one goes to `put_old`."""
    _syscall("pivot_root", ctypes.c_char_p(new_root), ctypes.c_char_p(put_old))


# --- mounts ---


def mount(
    source: bytes | None, target: bytes, kind: bytes | None = None, flags: int = 0, data: bytes | None = None
) -> None:
    """mount(2); `flags` are MS_…, `data` the options of the file system."""
    _libc(
        "mount",
        ctypes.c_char_p(source),
        ctypes.c_char_p(target),
        ctypes.c_char_p(kind),
        ctypes.c_ulong(flags),
        ctypes.c_char_p(data),
    )


def umount(target: bytes, flags: int = 0) -> None:
    """umount2(2); `flags` are MNT_… and UMOUNT_NOFOLLOW."""
    _libc("umount2", ctypes.c_char_p(target), ctypes.c_int(flags))


def mount_setattr(
    path: bytes, *, add: int = 0, clear: int = 0, propagation: int = 0, flags: int = 0, folder: int = AT_FDCWD
) -> None:
    """Change attributes (MOUNT_ATTR_…) of the mount at `path`, with AT_RECURSIVE in `flags` of all below it too."""
    attributes = struct.pack("=QQQQ", add, clear, propagation, 0)
    _syscall("mount_setattr", folder, ctypes.c_char_p(path), flags, ctypes.c_char_p(attributes), len(attributes))


def open_tree(path: bytes, flags: int = OPEN_TREE_CLOEXEC, folder: int = AT_FDCWD) -> int:
    """A descriptor of the mount at `path`; with OPEN_TREE_CLONE of a detached copy (AT_RECURSIVE: with all below)."""
    return _syscall("open_tree", folder, ctypes.c_char_p(path), flags)


def move_mount(source: int, target: bytes, *, folder: int = AT_FDCWD, flags: int = MOVE_MOUNT_F_EMPTY_PATH) -> None:
    """Attach the mount behind descriptor `source` at `target`."""
    _syscall("move_mount", source, ctypes.c_char_p(b""), folder, ctypes.c_char_p(target), flags)


# --- files ---


def renameat2(
    source: bytes, target: bytes, flags: int, *, source_folder: int = AT_FDCWD, target_folder: int = AT_FDCWD
) -> None:
    """rename with RENAME_NOREPLACE or RENAME_EXCHANGE."""
    if _RENAMEAT2 is not None:
        if _RENAMEAT2(source_folder, source, target_folder, target, flags) == -1:
            raise _failed("renameat2")
        return
    _syscall("renameat2", source_folder, ctypes.c_char_p(source), target_folder, ctypes.c_char_p(target), flags)


def openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """Open what is there with RESOLVE_… limits on how it may be found."""
    how = struct.pack("=QQQ", flags, 0, resolve)
    return _syscall("openat2", folder, ctypes.c_char_p(path), ctypes.c_char_p(how), len(how))


def open_once(path: bytes, flags: int) -> int:
    """open(2) that a signal interrupts (EINTR), which Python's own never is."""
    return _libc("open", ctypes.c_char_p(path), ctypes.c_int(flags))


def set_times(path: bytes, times: bytes | None) -> None:
    """utimensat(2): two `timespec` as the kernel takes them, None for now."""
    _libc("utimensat", AT_FDCWD, ctypes.c_char_p(path), ctypes.c_char_p(times), 0)


def syncfs(fd: int) -> None:
    """Write out all of the file system that `fd` lies on."""
    _syscall("syncfs", fd)


# --- processes ---


def fork_into(cgroup: int) -> int:
    """Like `os.fork`, but the child begins in the control group whose folder is behind descriptor `cgroup`.

    Only for a process with one thread: Python's own precautions around a fork are for others.
    """
    nothing = 0
    wanted = struct.pack("=11Q", CLONE_INTO_CGROUP, *[nothing] * 3, signal.SIGCHLD, *[nothing] * 5, cgroup)
    number = ctypes.c_long(number_of("clone3"))
    # Not through `_syscall`: that gives up the interpreter's lock, which the child could not take again.
    call = _LOCKED_LIBC.syscall
    call.restype = ctypes.c_long
    pid = int(call(number, ctypes.c_char_p(wanted), ctypes.c_size_t(len(wanted))))
    if pid < 0:
        raise _failed("clone3")
    return pid


def prctl(option: int, *arguments: int) -> int:
    """prctl(2) with up to four arguments; what it answers."""
    words = [ctypes.c_ulong(word) for word in (*arguments, 0, 0, 0, 0)[:4]]
    return _libc("prctl", ctypes.c_int(option), *words)


def no_new_privileges() -> None:
    """From here on no setuid program gains anything (so sudo is dead); needed for Landlock and seccomp without privilege."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding(capabilities: tuple[int, ...]) -> None:
    """Take `capabilities` away for good: even a setuid program started later does not get them."""
    for capability in capabilities:
        prctl(PR_CAPBSET_DROP, capability)


def drop_capabilities(capabilities: tuple[int, ...] | None = None) -> None:
    """Clear `capabilities` (all, if None) of this process: effective, permitted, inheritable and ambient."""
    try:
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    except OSError:
        pass  # a kernel before 4.3 has none
    effective, permitted, inheritable, *high = _capabilities()
    keep = ~0
    for capability in range(64) if capabilities is None else capabilities:
        keep &= ~(1 << capability)
    low_mask, high_mask = keep & 0xFFFFFFFF, (keep >> 32) & 0xFFFFFFFF
    words = [word & low_mask for word in (effective, permitted, inheritable)] + [word & high_mask for word in high]
    _syscall("capset", ctypes.c_char_p(_CAP_HEADER), ctypes.c_char_p(struct.pack("=6I", *words)))


def has_capability(capability: int) -> bool:
    """Tell whether this process has it now."""
    try:
        data = _capabilities()
    except OSError:
        return False
    return bool(data[0 if capability < 32 else 3] >> (capability % 32) & 1)


def _capabilities() -> tuple[int, ...]:
    """Effective, permitted and inheritable, of the lower 32 and then of the upper."""
    data = ctypes.create_string_buffer(24)
    _syscall("capget", ctypes.c_char_p(_CAP_HEADER), data)
    return struct.unpack("=6I", data.raw)


def pidfd_open(pid: int) -> int:
    """A descriptor for a process, immune to the reuse of its number."""
    return _syscall("pidfd_open", pid, 0)


def pidfd_getfd(pidfd: int, fd: int) -> int:
    """A copy of another process's descriptor."""
    return _syscall("pidfd_getfd", pidfd, fd, 0)


# --- sockets ---


def connect(fd: int, address: bytes) -> None:
    """connect(2) with an address as the kernel takes it."""
    _libc("connect", fd, ctypes.c_char_p(address), len(address))


def bind(fd: int, address: bytes) -> None:
    """bind(2) with an address as the kernel takes it."""
    _libc("bind", fd, ctypes.c_char_p(address), len(address))


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
    return _syscall("landlock_create_ruleset", ctypes.c_char_p(attributes), size, 0)


def landlock_allow_path(ruleset: int, access: int, fd: int) -> None:
    """Allow `access` to the file behind `fd`, or to everything beneath the folder."""
    rule = struct.pack("=Qi", access, fd)
    _syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.c_char_p(rule), 0)


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
    return _syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, ctypes.c_char_p(header))
