"""Confine or hold this process, for good: namespaces, read-only mounts, Landlock, filters of calls, fewer rights; and have a program print
something while it is confined. Standard library only.

Whatever fails raises OSError with the step as its file name, ValueError or KeyError: then the process must end, confined in part.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from functools import cache
from typing import Any

from agent.execution import kernel, system_calls
from agent.execution.confine import call_filter, landlock, readonly_view
from agent.execution.confine.lock import filter as lock_filter
from agent.execution.confine.plan import Plan, decoded

# What a confined root loses, here and in all it starts. What is left (owning, reading and changing files of others, ports, signals)
# ends at mounts that are read-only.
_HARMFUL_CAPABILITIES = frozenset(
    # DAC_READ_SEARCH (opens files by handle, past the mounts), LINUX_IMMUTABLE, SYS_PACCT, SYS_RESOURCE (would lift limits),
    # SYS_TTY_CONFIG, LEASE, AUDIT_WRITE, AUDIT_CONTROL; MAC_OVERRIDE, MAC_ADMIN, SYSLOG, WAKE_ALARM, BLOCK_SUSPEND, AUDIT_READ,
    # PERFMON, BPF, CHECKPOINT_RESTORE
    (2, 9, 20, 24, 26, 28, 29, 30, *range(32, 41), kernel.CAP_NET_ADMIN, kernel.CAP_SYS_MODULE, kernel.CAP_SYS_RAWIO, kernel.CAP_SYS_CHROOT,
     kernel.CAP_SYS_PTRACE, kernel.CAP_SYS_ADMIN, kernel.CAP_SYS_BOOT, kernel.CAP_SYS_TIME, kernel.CAP_MKNOD)
)  # fmt: skip
# Who may become another user may trace that user's processes, and is then where they are: only Landlock stops that.
IDENTITY_CAPABILITIES = (6, 7)  # SETGID, SETUID
_SETPCAP = 8
# DAC_READ_SEARCH, SYSLOG, AUDIT_READ, PERFMON: by them a held command sees files and processes of others, and the kernel's messages.
_SEES = {2, kernel.CAP_SYS_PTRACE, 34, 37, 38}
_NOT_HELD = (_HARMFUL_CAPABILITIES - _SEES).union(IDENTITY_CAPABILITIES)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def confine(spec: dict[str, Any]) -> None:
    """Confine this single-threaded process as a launch request says."""
    plan = decoded(spec)
    files = plan.files != "all"
    version = landlock.version_here()
    privileged = is_privileged()
    if plan.rung == "namespaces":
        # Shared memory, semaphores and queues of others are no files, and can be written all the same.
        flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC if files else 0
        flags |= 0 if plan.network else kernel.CLONE_NEWNET
        if flags:
            _leave(flags)
        if files:
            readonly_view.enter(plan.writable, plan.protected)
        if not plan.network:
            with _step("loopback"):
                _bring_up_loopback()
    elif files and not version:
        with _step("landlock"):
            landlock.ruleset_of(landlock.WRITE_FILE)  # says why there is none
        raise system_calls.error(errno.ENOSYS, "landlock")
    if not privileged:
        with _step("no_new_privs"):
            kernel.no_new_privileges()
    if version:
        with _step("landlock"):
            _landlock(plan, version)
    with _step("seccomp"):
        system_calls.seccomp_filter(
            call_filter.program(
                files=files,
                network=plan.network,
                own=plan.rung == "namespaces",
                truncation=plan.rung == "landlock" and files and version < landlock.TRUNCATING,
            )
        )
    with _step("capabilities"):
        if plan.rung == "namespaces" and not privileged:
            kernel.drop_capabilities()
        else:
            _give_up(_HARMFUL_CAPABILITIES.union(IDENTITY_CAPABILITIES if files and not version else ()))


def hold(spec: dict[str, Any]) -> None:
    """Take from this process what its command's rating does not say; the listener is sent on the socket `spec["channel"]`.

    The guardian has decoded the spec as a whole before it forked.
    """
    network, interfaces = bool(spec["network"]), bool(spec["interfaces"])
    if not is_privileged():
        with _step("no_new_privs"):
            kernel.no_new_privileges()
    with _step("listener"):
        lines = lock_filter.apart(os.getpgid(os.getppid()), network=network)
        listener = system_calls.seccomp_filter(lines, system_calls.SECCOMP_FILTER_FLAG_NEW_LISTENER)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, spec["channel"]) as channel:
        channel.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("=i", listener))])
    os.close(listener)
    if interfaces and not network:
        system_calls.seccomp_filter(lock_filter.nothing_sent())
    with _step("core files"):
        # The kernel itself would write one, or hand it to a program of the system: neither for a limit of one byte.
        most = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] else 0
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    with _step("capabilities"):
        _give_up(_NOT_HELD)


@cache
def is_privileged() -> bool:
    """Tell whether this process can make namespaces without a user namespace, as root usually can; asked before it gives up anything."""
    return kernel.has_capability(kernel.CAP_SYS_ADMIN)


def _leave(flags: int) -> None:
    """Enter new namespaces (CLONE_NEW…), and a user namespace where nothing else gives the right to."""
    if is_privileged():
        with _step("unshare"):
            kernel.unshare(flags)
        return
    uid, gid = os.geteuid(), os.getegid()
    with _step("unshare"):
        kernel.unshare(flags | kernel.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with _step(name), open(f"/proc/self/{name}", "wb", buffering=0) as file:
            file.write(text.encode("ascii"))


def _bring_up_loopback() -> None:
    """A new network namespace has a loopback that is down; programs talk to themselves over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        answer = fcntl.ioctl(probe, _SIOCGIFFLAGS, request)
        flags = struct.unpack("16sh14x", answer)[1]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _landlock(plan: Plan, version: int) -> None:
    folders = plan.writable
    if plan.rung == "namespaces" and os.path.isdir(b"/dev/shm"):
        folders = (*folders, b"/dev/shm")  # ours alone there
    if plan.files != "all":
        landlock.writable_only(folders, version)
    else:
        landlock.apart(version)


def _give_up(capabilities: frozenset[int]) -> None:
    """Drop what could undo the confinement, for this process and all it will start."""
    try:
        kernel.drop_bounding(capabilities)
    except OSError:
        if kernel.has_capability(_SETPCAP):  # with it, it must work
            raise
    kernel.drop_capabilities(capabilities)


class _step:  # noqa: N801  # used like contextlib's, and quicker than a generator
    """Name what fails in it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise OSError(error.errno or errno.EPERM, error.strerror, self._name) from None


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_BOOT = "import sys; sys.path.append(sys.argv[1]); import agent.execution.confine.entering as held; held.become()"
_UNCONFINED = 121
_ENVIRONMENT = {
    "PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "120", "PAGER": "cat", "MANPAGER": "cat",
}  # fmt: skip


def held_output(argv: tuple[str, ...], seconds: float) -> str:
    """Return what it prints on both outputs within `seconds`, without input, terminal and our environment; "" where it cannot be started.

    Where nothing can confine it, it runs all the same: what it is, its caller has seen to.
    """
    from agent.execution.processes import HostProcesses  # not for the process that becomes the program

    processes = HostProcesses(_ENVIRONMENT)
    rungs = [
        Plan("read-only", network=False, rung="namespaces"),
        Plan("read-only", network=False, rung="landlock"),
        None,
    ]
    for plan in rungs if sys.platform == "linux" else rungs[-1:]:
        spec = json.dumps(plan and plan.encoded())
        code, text = processes.captured((sys.executable, "-I", "-S", "-c", _BOOT, _ROOT, spec, *argv), "/", seconds)
        if code != _UNCONFINED:
            return text
    return ""


def become() -> None:
    """Become the program, confined as the second argument says."""
    spec, argv = json.loads(sys.argv[2]), sys.argv[3:]
    try:
        if spec is not None:
            confine(spec)
    except (OSError, ValueError, KeyError):
        os._exit(_UNCONFINED)
    os.dup2(1, 2)
    try:
        os.execve(argv[0], argv, _ENVIRONMENT)
    except OSError:
        os._exit(127)
