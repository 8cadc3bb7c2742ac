"""Run as process 1 of a rehearsal: start the shell, collect what ends, tell how the shell ended, and take all along at the end.

The kernel ends every process of the namespace with it, and ends it with its parent (the guard). It cannot be looked into from
inside: it is not dumpable, so that none of its descriptors can be reached through /proc. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import time
from contextlib import suppress

from agent.execution import kernel, network_watch
from agent.execution.process_tree.cgroups import stat_fields
from agent.execution.sandbox import mounts, views
from agent.execution.sandbox.reports import Spec

LINGER = 0.03  # seconds the shell's last children get to end by themselves
_STEP = 0.002
_STOPS_OF_TERMINAL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_MOST_NAMED = 20
# Full rights over files, and none over the system: mounts, modules, raw devices, clocks, other people's processes.
_TAKEN = (
    kernel.CAP_SYS_ADMIN,
    kernel.CAP_SYS_MODULE,
    kernel.CAP_SYS_RAWIO,
    kernel.CAP_SYS_BOOT,
    kernel.CAP_SYS_TIME,
    kernel.CAP_SYS_PTRACE,
    kernel.CAP_NET_ADMIN,
)
_PR_SET_NAME = 15
_NAME = ctypes.create_string_buffer(b"init")
_ARGUMENTS = 45  # which field after the name in /proc/PID/stat says where its words begin; the next one where they end
_ALL = tuple(range(41))
_NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def start_command(spec: Spec, channel: socket.socket, report_fd: int) -> None:
    """Finish the sandbox, fork, and return in the process that is to become the command; in process 1 it never returns.

    `channel` leads to the guard. `report_fd` is the guardian's pipe, which only the command may keep. Raises OSError with what was
    tried as its `filename`, and nothing was started.
    """
    _finish_sandbox(spec, channel)
    terminal = _is_terminal(0)
    pid = os.fork()
    if pid == 0:
        channel.close()
        _become_unprivileged(spec, terminal)
        return
    _serve(pid, channel, report_fd, terminal)


def _finish_sandbox(spec: Spec, channel: socket.socket) -> None:
    _guard_life(channel)
    settings = mounts.mount_proc()
    views.cover(spec)
    network = 0 if spec.network else kernel.CLONE_NEWNET
    if spec.layout == "root":
        # All mounts made so far are locked by this step: nobody inside can take one away again.
        kernel.unshare(_NAMESPACES | network)
        channel.sendall(b"map\n")
        if channel.recv(1) != b"1":
            raise OSError(1, "the guard could not map the users", "uid_map")
        _guard_life(channel)  # new credentials forget it
    mounts.no_control_groups(settings)
    os.close(settings)
    _take_a_plain_name()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    if spec.layout == "user":
        kernel.no_new_privileges()
    listener = network_watch.install(network=spec.network, sockets=not spec.network)
    if listener is None:
        channel.sendall(b"ready\n")
    else:
        socket.send_fds(channel, [b"ready\n"], [listener])
        os.close(listener)


def _take_a_plain_name() -> None:
    """Have `ps` show "init" for process 1, and not how the helper was started."""
    with suppress(OSError, ValueError, IndexError):  # it looks a little odd, then
        kernel.prctl(_PR_SET_NAME, ctypes.addressof(_NAME))
        fields = stat_fields("self")
        start, end = int(fields[_ARGUMENTS]), int(fields[_ARGUMENTS + 1])
        if 0 < start < end:
            ctypes.memset(start, 0, end - start)
            ctypes.memmove(start, _NAME, min(len(_NAME), end - start))


def _guard_life(channel: socket.socket) -> None:
    """Have the kernel end us with the guard, and end at once if it is gone already."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    if any(events & (select.POLLHUP | select.POLLERR) for _fd, events in poll.poll(0)):
        os._exit(1)


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd) and os.tcgetpgrp(fd) >= 0
    except OSError:
        return False


def _become_unprivileged(spec: Spec, terminal: bool) -> None:
    """Give the command what it itself needs: a group, its limits, and no right and no descriptor that is ours."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpgid(0, 0)
    if terminal:
        os.tcsetpgrp(0, os.getpid())
    elif not spec.silent:
        # The one of this view: the real one could be changed through its descriptor.
        fd = os.open(b"/dev/null", os.O_RDONLY)
        os.dup2(fd, 0)
        if fd:
            os.close(fd)
    # 1, and not 0: at 1 the kernel does not start the system's crash handler either, which lives outside.
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    for capability in _ALL if spec.layout == "user" else _TAKEN:
        with suppress(OSError):  # a kernel that does not know this one cannot give it either
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.drop_capabilities(None if spec.layout == "user" else _TAKEN)


def _serve(pid: int, channel: socket.socket, report_fd: int, terminal: bool) -> None:
    """Process 1 from here on."""
    code = 1
    try:
        keep = os.dup(0) if terminal else -1
        if report_fd >= 0:
            os.close(report_fd)
        let_go_of_all_but({channel.fileno(), keep})
        signal.signal(signal.SIGINT, lambda *_: _signal_group(pid, signal.SIGINT))
        status = _wait(pid, keep)
        message = {"status": status, "left": _left_behind()}
        channel.sendall(json.dumps(message).encode("ascii") + b"\n")
        code = 0
    finally:
        os._exit(code)


def _signal_group(group: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(group, number)


def _wait(pid: int, terminal: int) -> int:
    """Collect what ends until the command has; what the terminal stopped is woken, since nobody could `fg` it."""
    while True:
        ended, status = os.waitpid(-1, os.WUNTRACED)
        if ended != pid:
            continue
        if not os.WIFSTOPPED(status):
            return status
        if os.WSTOPSIG(status) in _STOPS_OF_TERMINAL:
            if terminal >= 0:
                with suppress(OSError):
                    os.tcsetpgrp(terminal, pid)
            _signal_group(pid, signal.SIGCONT)


def _left_behind() -> list[str]:
    """Names of the processes that are still there a moment after the command ended."""
    deadline = time.monotonic() + LINGER
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return []
        if time.monotonic() > deadline:
            break
        time.sleep(_STEP)
    names: list[str] = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and entry != "1" and len(names) < _MOST_NAMED:
            with suppress(OSError), open(f"/proc/{entry}/comm", "rb") as file:
                names.append(os.fsdecode(file.read().rstrip(b"\n")))
    return names or ["a process"]


def let_go_of_all_but(kept: set[int]) -> None:
    """Close every descriptor from 3 on that is not in `kept`, and have the first three stand for nothing."""
    null = os.open(b"/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for fd in range(3):
        os.dup2(null, fd)
    low = 3
    for fd in sorted(fd for fd in kept if fd >= 3):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))
