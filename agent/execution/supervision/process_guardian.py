"""Start one command in a process of its own, stop it, and leave nothing of it behind.

Whatever the command forks stays in its tree (tree.py). The guardian owns time-out and the INT, TERM, KILL
ladder itself: they work even while the REPL is blocked or frozen. When its socket ends (the REPL died, even by
SIGKILL), it kills the command with its whole tree. What goes on in the background after a normal end, or because the person
sent it there, is watched to its end (job_watch.py). Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from agent.execution.process_tree import wire
from agent.execution.process_tree.limits import RunLimits, Watch
from agent.execution.process_tree.tree import RUNGS, Tree, signal_all, states_in_group
from agent.execution.supervision.job_watch import MAX_FDS, JobWatch, stop_whole_group
from agent.execution.supervision.spawning import IGNORED, spawn

if TYPE_CHECKING:
    from agent.execution.confine.lock.asked_calls import AskedCalls

LINGER = 0.03  # seconds a finished command's last children get before they count as background jobs
TIME_TO_END = 0.3  # seconds between TERM and KILL for what an interrupted command left behind
_TIOCSIG = 0x40045436 if sys.platform == "linux" else 0x2000745F
_KILLED = 3  # the last stage: everybody had the time to say goodbye
_STOPS_OF_TERMINAL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


class ProcessGuardian:
    """Runs one `run` request. Descriptors: control socket, stdin, stdout, stderr, and with `tty` the PTY master."""

    def __init__(self, request: wire.Message, fds: list[int]) -> None:
        self._request = request
        self._control = socket.socket(fileno=fds[0])
        self._stdio = fds[1:4]
        self._master: int | None = fds[4] if request["tty"] else None
        self._pid = 0
        self._status: int | None = None
        self._stage = 0  # 0 running, 1 interrupted, 2 terminated, 3 killed
        self._deadline: float | None = None
        self._timed_out = False
        self._over = ""  # the limit for which it was ended
        self._asked: AskedCalls | None = None
        self._kept: tuple[wire.Message, list[int]] | None = None
        self._suspended = False

    def run(self) -> None:
        """Start the command, keep it until it ends, report. Returns when the guardian has nothing left to do."""
        wake, self._wake = socket.socketpair()  # no pipes: who may look at us could open those, and take what wakes us
        self._wake.setblocking(False)
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        limits = RunLimits(**self._request.get("limits", {}))
        of_all = limits.memory is not None or limits.processes is not None
        self._tree = Tree(self._request.get("strays", RUNGS[0]), limits=of_all)
        own = self._tree.group
        held = () if own is None else own.limit(memory=limits.memory, processes=limits.processes)
        self._held, self._watch_limits = held, Watch(limits, held)
        if self._request["tty"]:
            fcntl.ioctl(self._stdio[0], termios.TIOCSCTTY, 0)
        start = partial(spawn, self._request, self._stdio, self._tree, limits=limits, held=held)
        if self._request.get("sandbox", {}).get("kind") == "lock":
            failure = self._start_held(start)
        else:
            self._pid, failure = start()
        if failure:
            self._say({"event": "failed", **failure})
            self._tree.leave()
            return
        self._tree.confirm(self._pid)
        for fd in self._stdio[1:] if self._request["tty"] else self._stdio:
            os.close(fd)  # of a terminal one descriptor is kept, to move its foreground group
        timeout = self._request["timeout"]
        self._expires = None if timeout is None else time.monotonic() + timeout
        group = "" if own is None or self._tree.group is None else own.path
        started = {"event": "started", "pid": self._pid, "guardian": os.getpid(), "rung": self._tree.rung}
        self._say(started | {"group": group.encode("utf-8", "surrogateescape").decode("latin-1")})
        self._watch(wake)

    def _start_held(self, start: Callable[..., tuple[int, wire.Message | None]]) -> wire.Message | None:
        """Start a command that asks us, and answer before it can ask; what failed."""
        from agent.execution.confine.lock.asked_calls import AskedCalls

        self._asked = asked = AskedCalls(self._request["sandbox"], self._stdio, self._end_held)
        self._pid, failure = start(forked=asked.start)
        if not failure:
            asked.know_shell(self._pid)
        return failure

    def _end_held(self) -> None:
        """End the command for what it tried; called in the thread that answers it."""
        if self._status is None:
            with suppress(OSError):  # then it is going to wake anyway
                self._wake.send(b"r")
        else:  # what it left in the background tried it
            self._tree.kill()

    # --- the loop ---

    def _watch(self, wake: socket.socket) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while not self._reap():
            for fd, _events in poll.poll(self._patience()):
                if fd == wake.fileno():
                    wake.recv(512)
                elif not self._obey():
                    self._tree.look()
                    self._tree.kill()
                    self._tree.leave()
                    return
            # The person sent it to the background: it loses terminal and time-out, and goes on.
            if self._kept is not None:
                self._let_go_of_terminal()
                self._say({"event": "kept"})
                self._watch_job(wake, self._pid, *self._kept)
                return
            self._check_time()
        self._finish(wake)

    def _patience(self) -> float | None:
        moments = [moment for moment in (self._deadline, self._expires, self._watch_limits.due) if moment is not None]
        return max(0.0, (min(moments) - time.monotonic()) * 1000) if moments else None

    def _obey(self) -> bool:
        """Handle one message; False when the other end is gone."""
        try:
            received = wire.receive(self._control, MAX_FDS)
        except OSError:
            return False
        if received is None:
            return False
        message, fds = received
        if message["op"] == "stop":
            self._escalate()
        elif message["op"] == "continue":
            self._continue()
        elif message["op"] == "suspend?":
            self._suspend_with_stopped()
        elif message["op"] == "keep" and self._stage == 0 and self._kept is None:
            self._kept = message, fds
        else:
            for fd in fds:
                os.close(fd)  # too late: it is being ended
        return True

    def _check_time(self) -> None:
        now = time.monotonic()
        if self._expires is not None and now >= self._expires:
            self._expires = None
            if self._stage == 0:
                self._timed_out = True
                self._escalate()
        if not self._over:
            self._over = self._watch_limits.broken(self._tree.members, now)
            if self._asked is not None and self._asked.broken:
                self._over = "rights"
            if self._over:
                self._stage = 2  # it takes what others need, or was refused something: no time to say goodbye
                self._escalate()
        if self._deadline is not None and now >= self._deadline:
            self._escalate()

    def _escalate(self) -> None:
        """One step up the ladder: INT to the foreground group, TERM to all, KILL to all."""
        self._stage += 1
        if self._suspended:
            self._stage = max(self._stage, 2)  # what is stopped takes no key; it gets TERM, and goes on to act on it
        self._tree.look()
        self._deadline = time.monotonic() + float(self._request["grace"])
        if self._stage == 1:
            self._interrupt()
        elif self._stage == 2:
            self._tree.terminate()
            if self._suspended:
                self._continue()
        else:
            # The command's own exit status must not be swallowed by the sweep, so it is killed and awaited here.
            signal_all({self._pid}, signal.SIGKILL)
            _pid, self._status = os.waitpid(self._pid, 0)

    def _interrupt(self) -> None:
        if self._master is not None:
            with suppress(OSError):
                # The kernel delivers it, so that a sudo of another user gets it too.
                fcntl.ioctl(self._master, _TIOCSIG, signal.SIGINT)
                return
            with suppress(OSError):
                os.killpg(os.tcgetpgrp(self._stdio[0]), signal.SIGINT)
                return
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGINT)

    def _reap(self) -> bool:
        """Collect what ended, and say whether the command has; wake it if the terminal stopped it and nobody can `fg` it."""
        while self._status is None:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            if pid == 0:
                return False
            if pid != self._pid:
                continue
            if not os.WIFSTOPPED(status):
                self._status = status
                return True
            if self._may_suspend and os.WSTOPSIG(status) in (signal.SIGTSTP, signal.SIGSTOP):
                self._suspended, self._expires = True, None
                stop_whole_group(self._pid, self._tree.members)
                self._say({"event": "suspended"})
            elif os.WSTOPSIG(status) in _STOPS_OF_TERMINAL:
                self._continue()
        return True

    @property
    def _may_suspend(self) -> bool:
        return bool(self._request.get("suspend")) and not self._suspended and self._stage == 0

    def _suspend_with_stopped(self) -> None:
        """Stop the whole foreground group where a program in it has stopped itself, which a shell that waits for it does not notice."""
        if self._may_suspend and b"T" in states_in_group(self._pid, self._tree.members()):
            with suppress(OSError):  # it has just ended
                os.killpg(self._pid, signal.SIGSTOP)

    def _continue(self) -> None:
        self._suspended = False
        self._foreground(self._pid)
        with suppress(OSError):  # it has ended
            os.killpg(self._pid, signal.SIGCONT)

    # --- the end ---

    def _finish(self, wake: socket.socket) -> None:
        stuck: set[int] = set()
        first = self._tree.left_in_background(LINGER)
        background = first is not None
        ended_with_it = background and self._request.get("background") == "end"
        if self._stage or ended_with_it:
            if background and self._stage < _KILLED:
                self._tree.terminate()
                self._tree.something_left(TIME_TO_END)
            stuck = self._tree.kill()
            first, background = None, False
        if self._asked is not None and self._asked.broken and not self._over:
            self._over = "rights"
        self._let_go_of_terminal()
        own = self._tree.group if "memory" in self._held and not self._over else None
        if own is not None and "memory" in own.exceeded():
            self._over = "memory"
        refused = self._asked.refused if self._asked is not None else []
        self._say(
            {
                "event": "exited", "status": self._status, "background": background, "first": first or 0, "ended_with_it": ended_with_it,
                "stuck": len(stuck), "timed_out": self._timed_out, "limit": self._over, "refused": refused,
            }
        )  # fmt: skip
        if first is not None:
            self._watch_job(wake, first)
        else:
            self._tree.leave()

    def _watch_job(
        self, wake: socket.socket, main: int, message: wire.Message | None = None, fds: list[int] | None = None
    ) -> None:
        if self._master is not None:
            os.close(self._master)
            os.close(self._stdio[0])
        job = JobWatch(self._tree, self._control, wake, main=main, grace=float(self._request["grace"]))
        if message is not None and fds is not None:
            job.keep(message, fds)
        job.run()

    def _foreground(self, group: int) -> None:
        if self._master is not None:
            with suppress(OSError):
                os.tcsetpgrp(self._stdio[0], group)

    def _let_go_of_terminal(self) -> None:
        """Give up the PTY so that only the guardian gets the hang-up, not a background job."""
        if self._master is not None:
            self._foreground(os.getpgrp())
            with suppress(OSError):
                fcntl.ioctl(self._stdio[0], termios.TIOCNOTTY)

    def _say(self, message: wire.Message) -> None:
        with suppress(OSError):  # the REPL is gone; the loop will notice
            wire.send(self._control, message)
