"""Namespaces of its own for this process, and the end of what would let it leave them. Standard library only."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Callable

from agent.execution import kernel

# What a confined root loses, here and in all it starts. What is left (owning, reading and changing files of others, ports, signals)
# ends at mounts that are read-only.
HARMFUL_CAPABILITIES = (
    2,  # DAC_READ_SEARCH: opens files by handle, past the mounts
    9,  # LINUX_IMMUTABLE
    kernel.CAP_NET_ADMIN,
    kernel.CAP_SYS_MODULE,
    kernel.CAP_SYS_RAWIO,
    kernel.CAP_SYS_CHROOT,
    kernel.CAP_SYS_PTRACE,
    20,  # SYS_PACCT
    kernel.CAP_SYS_ADMIN,
    kernel.CAP_SYS_BOOT,
    24,  # SYS_RESOURCE: would lift limits
    kernel.CAP_SYS_TIME,
    26,  # SYS_TTY_CONFIG
    kernel.CAP_MKNOD,
    28,  # LEASE
    29,  # AUDIT_WRITE
    30,  # AUDIT_CONTROL
    32,  # MAC_OVERRIDE
    33,  # MAC_ADMIN
    34,  # SYSLOG
    35,  # WAKE_ALARM
    36,  # BLOCK_SUSPEND
    37,  # AUDIT_READ
    38,  # PERFMON
    39,  # BPF
    40,  # CHECKPOINT_RESTORE
)
# Who may become another user may trace that user's processes, and is then where they are: only Landlock stops that.
IDENTITY_CAPABILITIES = (6, 7)  # SETGID, SETUID
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def is_privileged() -> bool:
    """Tell whether this process can make namespaces without a user namespace, as root usually can."""
    return kernel.has_capability(kernel.CAP_SYS_ADMIN)


def leave(flags: int) -> None:
    """Enter new namespaces (CLONE_NEW…), and a user namespace where nothing else gives the right to.

    Raises OSError with the step that failed as its file name.
    """
    if is_privileged():
        _step("unshare", kernel.unshare, flags)
        return
    uid, gid = os.geteuid(), os.getegid()
    _step("unshare", kernel.unshare, flags | kernel.CLONE_NEWUSER)
    _step("setgroups", _write, "/proc/self/setgroups", "deny")
    _step("uid_map", _write, "/proc/self/uid_map", f"{uid} {uid} 1")
    _step("gid_map", _write, "/proc/self/gid_map", f"{gid} {gid} 1")


def bring_up_loopback() -> None:
    """A new network namespace has a loopback that is down; programs talk to themselves over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        answer = fcntl.ioctl(probe, _SIOCGIFFLAGS, request)
        flags = struct.unpack("16sh14x", answer)[1]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def give_up_privileges(*, in_user_namespace: bool, stays_itself: bool) -> None:
    """Drop what could undo the confinement, for this process and all it will start. `stays_itself`: it becomes no other user."""
    if in_user_namespace:
        kernel.drop_capabilities()
        return
    harmful = HARMFUL_CAPABILITIES + (IDENTITY_CAPABILITIES if stays_itself else ())
    try:
        kernel.drop_bounding(harmful)
    except OSError as error:
        if kernel.has_capability(8):  # SETPCAP: with it, it must work
            raise OSError(error.errno, error.strerror, "capabilities") from None
    kernel.drop_capabilities(harmful)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)


def _step(name: str, call: Callable[..., None], *arguments: object) -> None:
    try:
        call(*arguments)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None
