"""System calls that the standard library does not have: namespaces, mounts, privileges.

Every function raises OSError with the kernel's errno; where the system has no such call (another kernel, another processor) it is
ENOSYS. Paths are bytes. Standard library only: it runs in the helper process, between fork and exec.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Iterable
from contextlib import suppress

from agent.execution.system_calls import LIBC, LOCKED_LIBC, error, libc, number_of, syscall

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

_CAP_HEADER = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
_PRCTL = getattr(LIBC, "prctl", None)
if _PRCTL is not None:
    _PRCTL.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)


# --- namespaces ---


def unshare(flags: int) -> None:
    """Leave the parent's namespaces (CLONE_NEW…)."""
    libc("unshare", flags)


def pivot_root(new_root: bytes, put_old: bytes) -> None:
    """Make `new_root` the root of this mount namespace; the old one goes to `put_old`."""
    syscall("pivot_root", new_root, put_old)


# --- mounts ---


def mount(
    source: bytes | None, target: bytes, kind: bytes | None = None, flags: int = 0, data: bytes | None = None
) -> None:
    """mount(2); `flags` are MS_…, `data` the options of the file system."""
    libc("mount", source, target, kind, flags, data)


def umount(target: bytes, flags: int = 0) -> None:
    libc("umount2", target, flags)


def mount_setattr(path: bytes, *, add: int, flags: int = 0, folder: int = AT_FDCWD) -> None:
    """Add attributes (MOUNT_ATTR_…) to the mount at `path`, with AT_RECURSIVE in `flags` of all below it too."""
    attributes = struct.pack("=QQQQ", add, 0, 0, 0)
    syscall("mount_setattr", folder, path, flags, attributes, len(attributes))


def open_tree(path: bytes, flags: int) -> int:
    """A descriptor of the mount at `path`; with OPEN_TREE_CLONE of a detached copy (AT_RECURSIVE: with all below)."""
    return syscall("open_tree", AT_FDCWD, path, flags)


def move_mount(source: int, target: bytes) -> None:
    """Attach the mount behind descriptor `source` at `target`."""
    syscall("move_mount", source, b"", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH)


# --- files ---


def renameat2(
    source: bytes, target: bytes, flags: int, *, source_folder: int = AT_FDCWD, target_folder: int = AT_FDCWD
) -> None:
    call = libc if hasattr(LIBC, "renameat2") else syscall  # C libraries have it since about 2018
    call("renameat2", source_folder, source, target_folder, target, flags)


def openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """Open what is there with RESOLVE_… limits on how it may be found."""
    how = struct.pack("=QQQ", flags, 0, resolve)
    return syscall("openat2", folder, path, how, len(how))


def open_once(path: bytes, flags: int) -> int:
    """open(2) that a signal interrupts (EINTR), which Python's own never is."""
    return libc("open", path, flags)


def set_times(path: bytes, times: bytes | None) -> None:
    """utimensat(2): two `timespec` as the kernel takes them, None for now."""
    libc("utimensat", AT_FDCWD, path, times, 0)


def syncfs(fd: int) -> None:
    syscall("syncfs", fd)


# --- processes ---


def fork_into(cgroup: int) -> int:
    """Like `os.fork`, but the child begins in the control group whose folder is behind descriptor `cgroup`.

    Only for a process with one thread: Python's own precautions around a fork are for others.
    """
    wanted = struct.pack("=11Q", CLONE_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, cgroup)
    # Not through `syscall`: that gives up the interpreter's lock, which the child could not take again.
    call = LOCKED_LIBC.syscall
    call.restype = ctypes.c_long
    pid = int(call(ctypes.c_long(number_of("clone3")), wanted, ctypes.c_size_t(len(wanted))))
    if pid < 0:
        raise error(ctypes.get_errno(), "clone3")
    return pid


def prctl(option: int, first: int = 0, second: int = 0) -> int:
    if _PRCTL is None:
        raise error(errno.ENOSYS, "prctl")
    result = int(_PRCTL(option, first, second, 0, 0))
    if result == -1:
        raise error(ctypes.get_errno(), "prctl")
    return result


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
    syscall("capset", _CAP_HEADER, struct.pack("=6I", *words))


def has_capability(capability: int) -> bool:
    try:
        data = _capabilities()
    except OSError:
        return False
    return bool(data[0 if capability < 32 else 3] >> (capability % 32) & 1)


def _capabilities() -> tuple[int, ...]:
    """Effective, permitted and inheritable, of the lower 32 and then of the upper."""
    data = ctypes.create_string_buffer(24)
    syscall("capget", _CAP_HEADER, data)
    return struct.unpack("=6I", data.raw)


def pidfd_open(pid: int) -> int:
    """A descriptor for a process, immune to the reuse of its number."""
    return syscall("pidfd_open", pid, 0)


def pidfd_getfd(pidfd: int, fd: int) -> int:
    return syscall("pidfd_getfd", pidfd, fd, 0)


# --- sockets ---


def connect(fd: int, address: bytes) -> None:
    libc("connect", fd, address, len(address))


def bind(fd: int, address: bytes) -> None:
    libc("bind", fd, address, len(address))
