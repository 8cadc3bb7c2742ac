"""Move bytes, in one thread, between a running command, its captures, the sink and the person's terminal."""

from __future__ import annotations

import array
import fcntl
import os
import selectors
import socket
import termios
import time
from collections.abc import Callable
from contextlib import suppress

from agent.execution import terminal as terminals
from agent.execution.keyboard import Keyboard
from agent.execution.output import Channels, Flood, Frames, HeadTail, PlainText
from agent.execution.process_tree import wire
from agent.execution.results import Ending
from agent.protocol.execution import OutputSink

READ_SIZE = 256 * 1024
FLOOD_NAP = 0.0003  # seconds they have for it: to wake us for every few kB would cost the command more than its writing
SHARED_READ_SIZE = 32 * 1024  # where both streams have something: small turns keep their order and starve neither
IDLE = 0.05  # seconds without output after which a background job may keep the pipe for itself
DRAIN_LIMIT = 0.5  # seconds after which even a busy background job is left alone


class Pump:
    def __init__(
        self,
        channels: Channels,
        captures: dict[str, HeadTail],
        sink: OutputSink | None,
        send_to_background: Callable[[tuple[int, ...]], bool] | None = None,
    ) -> None:
        self._send_to_background = send_to_background
        self._channels = channels
        self._captures = captures
        self._frames = Frames(sink)
        self._echo = PlainText()
        self._crowded = False
        self._started = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._open = dict(channels.outputs)
        self.used_terminal = channels.pass_through
        """True once the command drew on the person's terminal by itself."""
        self._keyboard: Keyboard | None = None
        if channels.real is not None and channels.master is not None:
            self._keyboard = Keyboard(
                channels.real,
                channels.master,
                self._selector,
                pass_through=channels.pass_through,
                tell=self._tell,
                to_background=self._ask_to_go_on,
            )
        self._shown = sink is not None or self._keyboard is not None
        self._total = self._came = 0  # bytes of output so far, and in this turn
        self._flood = Flood()
        self._ending = Ending()
        self._ended = False

    def run(self) -> Ending:
        """Serve everything; blocks. The sink is called in this thread."""
        channels = self._channels
        self._watch(channels.control, self._on_control)
        for fd in self._open:
            self._watch(fd, self._on_output)
        if channels.master is not None:
            os.set_blocking(channels.master, False)
            self._watch(channels.master, self._on_master)
        if self._keyboard is not None:
            self._keyboard.watch()
        try:
            self._loop()
            if self._ending.suspended:
                self._take_farewell()
            elif not self._ending.kept:
                self._drain()
                if self._keyboard is not None:
                    self._ending.unread = self._keyboard.unread()
            self._frames.flush()
        finally:
            self._selector.close()
        if channels.output_limit is not None:  # what is suspended goes on with what is left of it
            channels.output_limit = max(0, channels.output_limit - self._total)
        self._ending.sink_failure = self._frames.failure
        if self._keyboard is not None:
            self._ending.interrupted_by_key = self._keyboard.interrupted
            self._ending.saw_interrupt_key = self._keyboard.passed_interrupt
        self._ending.held = list(self._open)
        return self._ending

    def _watch(self, source: int | socket.socket, handler: Callable[[int], object]) -> None:
        self._selector.register(source, selectors.EVENT_READ, handler)

    def _loop(self) -> None:
        while not self._ended:
            self._serve(self._selector.select(self._patience()))
            if self._flood.goes_on(self._came):
                time.sleep(FLOOD_NAP)
            self._frames.flush_if_due()
            if self._keyboard is not None:
                self._keyboard.turn()

    def _serve(self, ready: list[tuple[selectors.SelectorKey, int]]) -> None:
        self._crowded = len(ready) > 1
        self._came = 0
        for key, _events in ready:
            key.data(key.fd)

    def _patience(self) -> float | None:
        """Seconds until something has to be done unasked."""
        due = self._frames.patience
        if self._keyboard is None:
            return due
        return self._keyboard.patience if due is None else min(due, self._keyboard.patience)

    def _take_farewell(self) -> None:
        """Read what a program wrote as it stopped, as that it leaves its screen: later that would move the cursor to where it was."""
        deadline = time.monotonic() + DRAIN_LIMIT  # others may still write to its terminal
        master = self._channels.master
        while master is not None and self._master_is_open() and self._on_master(master) and time.monotonic() < deadline:
            pass

    def _drain(self) -> None:
        """Read what the ended command left in the pipes, and no more than that."""
        for source in (self._channels.control, self._channels.real.fd if self._channels.real else None):
            if source is not None and source in self._selector.get_map():
                self._selector.unregister(source)
        owed = {fd: _readable(fd) for fd in self._open}
        deadline = time.monotonic() + DRAIN_LIMIT
        while self._open or self._master_is_open():
            ready = self._selector.select(IDLE if self._open or self._channels.screen else 0)
            # A PTY's last bytes may still be on their way through the kernel: it tells of them later than it gives them.
            master = self._channels.master
            if not ready and (master is None or not self._master_is_open() or not self._on_master(master)):
                return
            for one in ready:
                before, fd = self._total, one[0].fd
                self._serve([one])
                if fd in owed:
                    owed[fd] -= self._total - before
            self._frames.flush_if_due()
            if time.monotonic() > deadline and all(owed[fd] <= 0 for fd in self._open):
                self._serve(self._selector.select(0))  # the end of it may be all that is left
                return

    def _master_is_open(self) -> bool:
        return self._channels.master is not None and self._channels.master in self._selector.get_map()

    # --- what comes from the command ---

    def _on_control(self, _fd: int) -> None:
        try:
            received = wire.receive(self._channels.control)
        except OSError:
            received = None
        self._ending.message = received[0] if received else None
        event = received[0]["event"] if received else ""
        self._ending.kept, self._ending.suspended = event == "kept", event == "suspended"
        self._ended = True

    def _on_output(self, fd: int) -> None:
        stream = self._channels.outputs[fd]
        capture = self._captures[stream]
        most = self._most(SHARED_READ_SIZE if self._crowded else READ_SIZE)
        data = b""
        try:
            if self._ending.over_output:
                size = len(os.read(fd, most))  # it goes on writing while it is being ended
            elif capture.in_tail:
                size = capture.read(fd, most)
            else:
                data = os.read(fd, most)
                size = len(data)
                capture.feed(data)
        except BlockingIOError:
            return  # a guardian that goes on with the command in the background was quicker
        if not size:
            self._selector.unregister(fd)
            del self._open[fd]
            return
        is_over = self._ending.over_output
        self._count(size)
        if self._shown and not is_over:
            self._show(stream, data or capture.latest(size))

    def _show(self, stream: str, data: bytes) -> None:
        self._frames.add(stream, data, time.monotonic() - self._started)
        if self._keyboard is not None:
            self._keyboard.shown(data)

    def _most(self, size: int) -> int:
        """Bytes to read at once: of a command with a limit no more than the one byte that breaks it."""
        limit = self._channels.output_limit
        return size if limit is None or self._ending.over_output else min(size, limit - self._total + 1)

    def _count(self, size: int) -> None:
        self._came += size
        self._total += size
        limit = self._channels.output_limit
        if limit is not None and self._total > limit and not self._ending.over_output:
            self._ending.over_output = True
            self._tell("stop")

    def _on_master(self, fd: int) -> bool:
        """Take what came through the PTY; whether there was something."""
        try:
            data = os.read(fd, self._most(READ_SIZE))
        except BlockingIOError:
            return False
        except OSError:  # EIO: nobody has the terminal open any more
            data = b""
        if not data:
            self._selector.unregister(fd)
            return False
        self._through_terminal(fd, data)
        return True

    def _through_terminal(self, fd: int, data: bytes) -> None:
        """Hand on what the command wrote to its terminal, or the terminal echoed."""
        real, raw = self._channels.real, terminals.is_raw(fd)
        if self._ending.over_output:
            self._count(len(data))
            return
        if self._channels.screen and not raw:
            self._captures["stdout"].feed(data)
            self._count(len(data))
            self._show("stdout", data)
            return
        if self._channels.pass_through:
            self._captures["stdout"].feed(data)
            self._count(len(data))
        if real is None:
            return
        self._frames.flush()  # what came before through the sink belongs above it
        if self._keyboard is not None:
            self._keyboard.shown(data)
        if self._channels.pass_through or raw:
            self.used_terminal = True
            real.set_raw_output(True)
        else:
            real.set_raw_output(False)
            data = self._echo.feed(data)
        real.write(data)

    # --- what goes to the guardian ---

    def _ask_to_go_on(self) -> bool:
        """Ask it to go on without us in the background; the answer comes on the control socket, where the end may come before it."""
        ask, master = self._send_to_background, self._channels.master
        outputs = tuple(self._open) if master is None or not self._channels.screen else (*self._open, master)
        if ask is None or not ask(outputs):
            return False
        self._send_to_background = None
        return True

    def _tell(self, op: str) -> None:
        with suppress(OSError):  # it has ended meanwhile
            wire.send(self._channels.control, {"op": op})
        if op == "stop":
            self._channels.wake()


def _readable(fd: int) -> int:
    count = array.array("i", [0])
    with suppress(OSError):
        fcntl.ioctl(fd, termios.FIONREAD, count)
    return count[0]
