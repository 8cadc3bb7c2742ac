"""Stand as a process between guardian and sandbox: build the view, watch what goes on inside, and end as the command ended.

It stands outside of the PID namespace, so nothing inside can see or stop it. Standard library only.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn

from agent.execution import kernel
from agent.execution.network_watch import NetworkWatch
from agent.execution.sandbox import init, views
from agent.execution.sandbox.reports import STATE, Report, Spec, unpacked

_LONGEST_DUMP = 64 << 20
_FIRST, _SHORTEST = 0.05, 0.1  # seconds before the first look at what was written, and between looks
_SHARE = 6  # a look may take one part in so many of the time
_LEAST_FREE = 64 << 20


def enter(message: dict[str, Any], report_fd: int) -> None:
    """Become the guard of a rehearsal; returns in another process, inside, that is to become the command.

    Raises OSError where something cannot be had (`filename` says what was tried); then nothing was started.
    """
    signal.set_wakeup_fd(-1)  # that pipe is the guardian's
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    spec = Spec(**message)
    report = Report(unpacked(spec.scratch))
    try:
        guard = _Guard(spec, report)
        guard.build()
        report.tell("built")
        pid, channel = guard.fork(report_fd)
    except OSError as error:
        report.failed(error)
        raise
    if pid == 0:
        return
    guard.watch(pid, channel)


class _Guard:
    def __init__(self, spec: Spec, report: Report) -> None:
        self._spec = spec
        self._report = report
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._state = os.open(unpacked(spec.scratch) + b"/" + STATE, flags, 0o600)
        self._processes = os.open(b"/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._uppers: list[int] = []
        self._network: NetworkWatch | None = None
        self._status = int(signal.SIGKILL)
        self._listening = True
        self._heard = b""

    def build(self) -> None:
        """Make the namespaces and the view of the file system."""
        if self._spec.layout == "root":
            kernel.unshare(kernel.CLONE_NEWNS)
            views.build_for_root(self._spec, self._report, self._uppers)
            kernel.unshare(kernel.CLONE_NEWPID)
        else:
            views.build_for_user(self._spec, self._report, self._uppers)

    def fork(self, report_fd: int) -> tuple[int, socket.socket]:
        """Start process 1, which starts the command, and see it through its own part of the sandbox.

        Answers (pid of process 1, its channel) in the guard; in the command's process the pid is 0.
        """
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            try:
                init.start_command(self._spec, theirs, report_fd)
            except OSError as error:
                self._report.failed(error)
                raise
            return 0, theirs
        theirs.close()
        return pid, ours

    def watch(self, pid: int, channel: socket.socket) -> NoReturn:
        """Guard until process 1 is gone, bring home what it left, and end the way the command did."""
        status = int(signal.SIGKILL)
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            init.let_go_of_all_but({channel.fileno(), self._state, self._processes, self._report.fd, *self._uppers})
            status = self._serve(pid, channel)
            self._bring_state_home()
            self._report.say("ended", status=status)
        except Exception as error:  # it must end in any case, and its command with it
            self._report.say("broken", reason=f"{type(error).__name__}: {error}")
        finally:
            end_like(status)

    def _serve(self, pid: int, channel: socket.socket) -> int:
        """Answer and watch until process 1 has ended; the command's wait status."""
        budget = _BudgetWatch(self._uppers, self._spec.most_files, self._spec.most_bytes)
        poll = select.poll()
        poll.register(channel, select.POLLIN)
        reached = ""
        while self._listening and not reached:
            for fd, events in poll.poll(budget.milliseconds()):
                if fd == channel.fileno():
                    self._hear(pid, channel, poll)
                elif self._network is not None and events & select.POLLIN:
                    self._network.answer()
                else:
                    poll.unregister(fd)  # nobody is under the filter any more
            if budget.milliseconds() == 0:
                reached = budget.look()
        if reached:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        if self._network is not None and self._network.wanted:
            self._report.say("network", wanted=self._network.wanted)
        if reached := reached or budget.look():
            self._report.say("budget", what=reached)
        return self._status

    def _hear(self, pid: int, channel: socket.socket, poll: select.poll) -> None:
        """Hear what process 1 says: map the users, here is the listener, so it ended."""
        data, fds, _flags, _address = socket.recv_fds(channel, 1 << 16, 1)
        for listener in fds:
            os.set_inheritable(listener, False)
            self._network = NetworkWatch(listener, self._processes)
            poll.register(listener, select.POLLIN)
        self._listening = bool(data)
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            if line == b"map":
                self._map_users(pid, channel)
            elif line.startswith(b"{"):
                message = json.loads(line)
                self._status = int(message["status"])
                if message["left"]:
                    self._report.say("left", names=message["left"])

    def _map_users(self, pid: int, channel: socket.socket) -> None:
        """Every user stays who they are; written from outside, where the right to do so is."""
        for name in ("uid_map", "gid_map"):
            fd = os.open(f"{pid}/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._processes)
            with open(fd, "wb", buffering=0) as file:
                file.write(b"0 0 4294967295\n")
        channel.sendall(b"1")

    def _bring_state_home(self) -> None:
        """Copy the shell's dump out of the view. The file is the command's to write: it is only data."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(unpacked(self._spec.shell_dir) + b"/" + STATE, flags)
        except OSError:
            return
        left = _LONGEST_DUMP
        try:
            while left > 0 and (data := os.read(fd, 1 << 20)):
                if os.write(self._state, data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                left -= len(data)
        except OSError:
            os.ftruncate(self._state, 0)  # a folder, say, or no room: then nothing of it is known
        finally:
            os.close(fd)


def end_like(status: int) -> NoReturn:
    """End with the wait status `status`: the same exit code, or by the same signal. Never returns."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
            os.kill(os.getpid(), number)
        finally:
            os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)


class _BudgetWatch:
    """Looks at upper folders from time to time. `folders`: descriptors of the scratch folders around them."""

    def __init__(self, folders: list[int], most_files: int, most_bytes: int) -> None:
        self._folders = folders
        self._most_files = most_files
        self._most_bytes = most_bytes
        self._next_look = time.monotonic() + _FIRST

    def milliseconds(self) -> int:
        """The time until the next look; 0 when it is due."""
        return max(0, int((self._next_look - time.monotonic()) * 1000 + 1))

    def look(self) -> str:
        """Look which budget is used up ("files", "bytes", "disk"); "" for none."""
        began = time.monotonic()
        files = size = 0
        reached = ""
        for folder in self._folders:
            files, size = self._count(folder, files, size)
            facts = os.fstatvfs(folder)
            if files > self._most_files:
                reached = "files"
            elif size > self._most_bytes:
                reached = "bytes"
            elif facts.f_bavail * facts.f_frsize < _LEAST_FREE:
                reached = "disk"
            if reached:
                break
        now = time.monotonic()
        self._next_look = now + max(_SHORTEST, (now - began) * _SHARE)
        return reached

    def _count(self, folder: int, files: int, size: int) -> tuple[int, int]:
        """Add what lies in `folder`; stops counting once either budget is passed."""
        for _place, folders, names, fd in os.fwalk(".", dir_fd=folder, follow_symlinks=False, onerror=None):
            files += len(names) + len(folders)
            for name in names:
                try:
                    size += os.lstat(name, dir_fd=fd).st_blocks * 512
                except OSError:
                    continue  # gone meanwhile
            if files > self._most_files or size > self._most_bytes:
                break
        return files, size
