"""Drive the helper process from the executor's end: start it, ask it for launches, start it again if somebody killed it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent.execution.process_tree import wire
from agent.execution.process_tree.limits import UNLIMITED, RunLimits

if TYPE_CHECKING:
    import subprocess

_PATIENCE = 0.1  # seconds


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A program to start: words and environment (undecodable bytes as surrogates), where, and how its terminal is made.

    `silent_stdin`: its input is a pipe on which nothing ever comes, so that who reads it waits, instead of finding its end.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    terminal: bool
    pass_through: bool
    screen: bool = False
    inherit_stdin: bool
    silent_stdin: bool = False
    timeout: float | None
    grace: float
    head_bytes: int
    tail_bytes: int
    strays: str = "cgroup"
    command: str = ""
    command_id: str = ""
    sandbox: dict[str, Any] | None = None
    limits: RunLimits = UNLIMITED

    def request(self, *, tty: bool, background: Literal["end", "keep"], suspends: bool = False) -> wire.Message:
        """The message to the helper. `tty`: a PTY's master comes with it; `background`: what becomes of what is left behind;
        `suspends`: somebody could bring back what has stopped.
        """
        message: wire.Message = {
            "op": "run",
            "argv": [encoded(word) for word in self.argv],
            "env": {encoded(name): encoded(value) for name, value in self.env.items()},
            "cwd": encoded(self.cwd),
            "tty": tty,
            "timeout": self.timeout,
            "grace": self.grace,
            "strays": self.strays,
            "background": background,
            "suspend": tty and self.pass_through and suspends,
        }
        if any(limit is not None for limit in self.limits):
            message["limits"] = self.limits._asdict()
        if self.sandbox is not None:
            message["sandbox"] = self.sandbox
        return message


def encoded(text: str) -> str:
    """Text as bytes-in-latin-1, the form in which the helper takes words. Raises UnicodeEncodeError for real surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Appended, not prepended: the standard library always wins over whatever lies beside the package.
# It ends at once: taking Python to pieces costs a quarter of what the process costs, and nothing waits to be written.
_BOOT = (
    "import gc, os, sys; gc.disable(); sys.path.append(sys.argv[2]); from agent.execution.supervision.supervisor import main; "
    "main(int(sys.argv[1])); os._exit(0)"
)
# The helper gets no more of the environment than an unusual Python build needs to start.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")

# A thread that is there for one command only needs no heap of its own, and what is bound late would be bound in each child.
_QUICK_CHILDREN = {"MALLOC_ARENA_MAX": "1", "LD_BIND_NOW": "1"}

# Starting a process holds the interpreter, and with it the loop of every session, until the other one is loaded: the longer, the more of
# them begin at the same time.
_STARTING = threading.BoundedSemaphore(os.cpu_count() or 1)


class Helper:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def start(self) -> None:
        """Start the supervisor unless it runs. Raises OSError where no process can be started."""
        with self._lock:
            self._started()

    def request(self, message: wire.Message, fds: tuple[int, ...]) -> int:
        """Send one request with its descriptors; returns the pid of the process that serves it, a session leader.

        Raises OSError where that is impossible even after a restart.
        """
        with self._lock:
            pid = self._ask(message, fds)
            if pid is None:
                self._forget()
                pid = self._ask(message, fds)
            if pid is None:
                raise OSError("the helper process that starts commands ends at once")
            return pid

    def wake(self) -> None:
        """Have the supervisor run where a command has stopped it: it wakes the guardians that are stopped."""
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the supervisor; guardians and background jobs go on by themselves."""
        with self._lock:
            self._forget()

    def _ask(self, message: wire.Message, fds: tuple[int, ...]) -> int | None:
        """Send and await the receipt; None where the supervisor is gone (somebody killed it)."""
        channel = self._started()
        self.wake()
        try:
            wire.send(channel, message, fds)
            while not select.select([channel], [], [], _PATIENCE)[0]:
                self.wake()  # a command may stop it before it has answered
            receipt = wire.receive(channel)
        except (BrokenPipeError, ConnectionError):
            return None
        return None if receipt is None else int(receipt[0]["pid"])

    def _started(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._forget()
        if self._channel is None:
            import subprocess

            ours, theirs = socket.socketpair()
            with _STARTING, theirs:
                number = theirs.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _BOOT, str(number), _ROOT],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(number,),
                    start_new_session=True,
                    cwd="/",
                    env={name: os.environ[name] for name in _KEPT if name in os.environ} | _QUICK_CHILDREN,
                )
                theirs.close()
                with contextlib.suppress(ConnectionError):  # who asks it sees that it is gone
                    ours.recv(1)
            self._channel = ours
        return self._channel

    def _forget(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self.wake()
        if self._process is not None:
            self._process.wait()
            self._process = None


def exit_code(status: int) -> int:
    """The number by which a shell tells a wait status."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
