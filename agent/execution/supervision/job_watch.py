"""Watch a command that goes on in the background to its end, in its guardian; and stop one as a whole whose shell has stopped.

Its output goes to a log, `stop` on the control socket ends it (TERM, after the grace KILL), and its end is told there. When the
socket closes it is left alone, because the person left it running; it is still reaped, logged and tidied up after.
Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from agent.execution.process_tree import wire
from agent.execution.process_tree.tree import PAUSE, Tree, states_in_group

READ_SIZE = 1 << 16
MAX_FDS = 8
LOOK = 500.0  # milliseconds between looks for the end of a tree that nobody reports to us


class JobWatch:
    """Watches `tree` until it is empty. `wake` is readable after SIGCHLD.

    `main` is the process whose exit status is the job's, 0 where none of it can be seen.
    """

    def __init__(self, tree: Tree, control: socket.socket, wake: socket.socket, *, main: int, grace: float) -> None:
        self._tree = tree
        self._control: socket.socket | None = control
        self._wake = wake
        self._main = main
        self._grace = grace
        self._status: int | None = None
        self._stopped = False
        self._stuck = 0
        self._deadline: float | None = None
        self._log: LogWriter | None = None
        self._outputs: list[int] = []
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(wake, select.POLLIN)

    def keep(self, message: wire.Message, fds: list[int]) -> None:
        """Take over the log (first descriptor) and the outputs (the others) that go there."""
        if not fds or self._log is not None:
            for fd in fds:
                os.close(fd)
            return
        self._log = LogWriter(fds[0], int(message["cap"]))
        self._outputs = fds[1:]
        for fd in self._outputs:
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """To the end of the tree, and of what still writes to the log. Returns when there is nothing left to do."""
        while not self._over():
            self._serve(self._patience())
        for fd in list(self._outputs):
            self._read(fd)
        self._say_ended()
        self._tree.leave()
        while self._outputs:  # somebody outside the tree writes on, and would die of a closed pipe
            self._serve(None)

    def _over(self) -> bool:
        self._status = self._tree.collect().get(self._main, self._status)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._kill()
        return not self._tree.alive() or self._stuck > 0

    def _patience(self) -> float | None:
        left = [] if self._tree.subreaper else [LOOK]
        if self._deadline is not None:
            left.append(max(0.0, (self._deadline - time.monotonic()) * 1000))
        return min(left, default=None)

    def _serve(self, patience: float | None) -> None:
        for fd, _events in self._poll.poll(patience):
            if fd == self._wake.fileno():
                self._wake.recv(512)
            elif fd in self._outputs:
                self._read(fd)
            else:
                self._obey()

    def _read(self, fd: int) -> None:
        """All that is there now; the end of it is the end of this output."""
        try:
            while data := os.read(fd, READ_SIZE):
                if self._log is not None:
                    self._log.write(data)
                if len(data) < READ_SIZE:
                    return
        except BlockingIOError:
            return
        except OSError:  # EIO: a terminal that nobody holds any more
            pass
        self._poll.unregister(fd)
        self._outputs.remove(fd)
        os.close(fd)

    def _obey(self) -> None:
        assert self._control is not None
        try:
            received = wire.receive(self._control, MAX_FDS)
        except OSError:
            received = None
        if received is None:
            self._poll.unregister(self._control)
            self._control.close()
            self._control = None
            return
        message, fds = received
        if message["op"] == "keep":
            self.keep(message, fds)
        elif message["op"] == "stop":
            self._stop()

    def _stop(self) -> None:
        if self._stopped:
            self._kill()
            return
        self._stopped = True
        self._deadline = time.monotonic() + self._grace
        self._tree.look()
        self._tree.terminate()

    def _kill(self) -> None:
        self._deadline = None
        if self._main and self._status is None:  # killing reaps too, so the main process is waited for first
            with suppress(OSError):  # gone, or not a child of ours
                os.kill(self._main, 9)
                self._status = os.waitpid(self._main, 0)[1]
        self._stuck = len(self._tree.kill())

    def _say_ended(self) -> None:
        if self._control is None:
            return
        ended = {"event": "ended", "status": self._status, "stopped": self._stopped, "stuck": self._stuck}
        with suppress(OSError):
            wire.send(self._control, ended | {"trouble": self._log.trouble if self._log is not None else ""})
            self._poll.unregister(self._control)
            self._control.close()
        self._control = None


class LogWriter:
    """Writes to `fd`, which it owns. Beyond `cap` bytes the older half is given up, and a first line says how much is missing."""

    def __init__(self, fd: int, cap: int) -> None:
        self._fd = fd
        self._cap = cap
        self._at = os.fstat(fd).st_size
        self._head = 0  # bytes of the line that says what is missing
        self._dropped = 0
        self.trouble = ""

    def write(self, data: bytes) -> None:
        """Add `data`. Never raises: a full disk must not end the job; `trouble` says what went wrong."""
        kept = data[-self._cap :]
        self._dropped += len(data) - len(kept)
        try:
            if self._at + len(kept) > self._cap:
                self._make_room(len(kept))
            self._put(kept, self._at)
            self._at += len(kept)
        except OSError as error:
            self._dropped += len(kept)
            self.trouble = error.strerror or str(error)

    def close(self) -> None:
        os.close(self._fd)

    def _make_room(self, wanted: int) -> None:
        """Keep the newer half (less, where more room is wanted), from the start of a line on."""
        kept = max(0, min(self._cap // 2, self._cap - wanted))
        tail = os.pread(self._fd, kept, max(0, self._at - kept)) if kept else b""
        tail = tail[tail.find(b"\n") + 1 :]
        self._dropped += self._at - self._head - len(tail)
        head = b"[... %d bytes before this are not kept ...]\n" % self._dropped
        self._put(head + tail, 0)
        self._head, self._at = len(head), len(head) + len(tail)
        os.ftruncate(self._fd, self._at)

    def _put(self, data: bytes, at: int) -> None:
        while data:
            written = os.pwrite(self._fd, data, at)
            data, at = data[written:], at + written


_TIME_TO_LEAVE = 0.3  # seconds for a program to leave its screen
_BUSY = 1.0  # seconds that it may take for that while it is not asleep
_AT_REST = frozenset((b"T", b"t", b"Z", b"X"))


def stop_whole_group(group: int, members: Callable[[], Collection[int]]) -> None:
    """Give the program in it the time to leave its screen, and to stop as its shell did at once.

    One that sleeps on has missed the signal, as less does when it has drawn and is about to read a key: it gets another.
    """
    for number in (signal.SIGTSTP, signal.SIGSTOP):
        if _comes_to_rest(group, members):
            return
        with suppress(OSError):  # it has just ended
            os.killpg(group, number)
    _comes_to_rest(group, members)


def _comes_to_rest(group: int, members: Callable[[], Collection[int]]) -> bool:
    """Wait for the whole group to stop; False where one of it just sleeps, or is busy for too long."""
    now = time.monotonic()
    deadline, latest = now + _TIME_TO_LEAVE, now + _BUSY
    while awake := states_in_group(group, members()) - _AT_REST:
        now = time.monotonic()
        if awake != {b"S"}:
            deadline = now + _TIME_TO_LEAVE
        if now >= min(deadline, latest):
            return False
        time.sleep(PAUSE)
    return True
