"""The executor's end of the helper process: start it, ask it for launches, start it again if somebody killed it."""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import TYPE_CHECKING

from agent.execution.process_tree import wire

if TYPE_CHECKING:
    import subprocess

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Appended, not prepended: the standard library always wins over whatever lies beside the package.
_BOOT = "import sys; sys.path.append(sys.argv[2]); from agent.execution.supervision.supervisor import main; main(int(sys.argv[1]))"
# The helper gets no more of the environment than an unusual Python build needs to start.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


class Helper:
    """A lazily started supervisor. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the running supervisor, None before the first use."""
        return self._process.pid if self._process else None

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

    def close(self) -> None:
        """End the supervisor; guardians and background jobs go on by themselves."""
        with self._lock:
            self._forget()

    def _ask(self, message: wire.Message, fds: tuple[int, ...]) -> int | None:
        """Send and await the receipt; None where the supervisor is gone (somebody killed it)."""
        channel = self._started()
        try:
            wire.send(channel, message, fds)
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
            with theirs:
                number = theirs.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _BOOT, str(number), _ROOT],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(number,),
                    start_new_session=True,
                    cwd="/",
                    env={name: os.environ[name] for name in _KEPT if name in os.environ},
                )
            self._channel = ours
        return self._channel

    def _forget(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            self._process.wait()
            self._process = None
