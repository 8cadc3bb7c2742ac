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
from dataclasses import dataclass, field

from agent.execution import terminal as terminals
from agent.execution.output import Frames, HeadTail, PlainText
from agent.execution.process_tree import wire
from agent.execution.wait_hint import WAITS, WaitHint
from agent.protocol.ports import OutputSink

READ_SIZE = 256 * 1024
FLOOD = 1024 * 1024  # bytes after which what comes without a pause is a flood
FLOOD_PAUSE = 0.01  # seconds without output that end one
FLOOD_PIECE = 64 * 1024  # bytes that are worth a turn of their own; smaller pieces of a flood are let gather
FLOOD_NAP = 0.0003  # seconds they have for it: to wake us for every few kB would cost the command more than its writing
SHARED_READ_SIZE = 32 * 1024  # where both streams have something: small turns keep their order and starve neither
IDLE = 0.05  # seconds without output after which a background job may keep the pipe for itself
DRAIN_LIMIT = 0.5  # seconds after which even a busy background job is left alone
TERMINAL_CHECK = 0.2  # seconds between looks at the window size and settings
_INTERRUPT = b"\x03"
_SUSPEND = b"\x1a"
_LOOKS_AFTER_SUSPEND = (0.1, 0.5)  # seconds that a program may take to stop itself for Ctrl-Z
_PRESSES, _PRESSES_WITHIN = 3, 1.5  # Ctrl-C this often within so many seconds stops a program that owns the terminal


@dataclass
class Channels:
    """What the pump serves. `outputs`: read end -> stream name. `real` is None where the person has no terminal.

    `master` is the PTY's: of keys and echo only, of standard output too (`screen`), or of everything (`pass_through`).
    `output_limit`: bytes after which the command is stopped.
    """

    control: socket.socket
    outputs: dict[int, str]
    master: int | None = None
    real: terminals.RealTerminal | None = None
    pass_through: bool = False
    screen: bool = False
    output_limit: int | None = None


@dataclass
class Ending:
    """How it went: the guardian's last message (None: the guardian was lost), and read ends that a background job holds.

    `over_output`: it wrote more than it may. `kept`: it did not end, the guardian goes on with it in the background.
    `suspended`: the program that owns the terminal stopped for Ctrl-Z, and can be brought back with the same channels.
    `interrupted_by_key`: we stopped it for Ctrl-C; `saw_interrupt_key`: a program that owns the terminal got the key.
    """

    message: wire.Message | None = None
    held: list[int] = field(default_factory=list)
    interrupted_by_key: bool = False
    saw_interrupt_key: bool = False
    sink_failure: str = ""
    kept: bool = False
    suspended: bool = False
    over_output: bool = False


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
        self._keys = bytearray()
        self._presses: list[float] = []
        self._looks: list[float] = []  # when to look whether Ctrl-Z has stopped the program
        self._size = terminals.size(channels.real.fd) if channels.real else (0, 0)
        self.used_terminal = channels.pass_through
        """Whether the command drew on the person's terminal by itself."""
        self._hint = WaitHint(channels.master) if channels.master is not None and not channels.pass_through else None
        self._shown = sink is not None or self._hint is not None
        self._total = self._came = 0  # bytes of output so far, and in this turn
        self._flow, self._flow_at = 0, self._started  # bytes since the last pause, and when the latest of them came
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
        if channels.real is not None:
            self._watch(channels.real.fd, self._on_keys)
        try:
            self._loop()
            if not self._ending.kept and not self._ending.suspended:
                self._drain()
            self._frames.flush()
        finally:
            self._selector.close()
        self._ending.sink_failure = self._frames.failure
        self._ending.held = list(self._open)
        return self._ending

    def _watch(self, source: int | socket.socket, handler: Callable[[int], object]) -> None:
        self._selector.register(source, selectors.EVENT_READ, handler)

    def _loop(self) -> None:
        while not self._ended:
            self._serve(self._selector.select(self._patience()))
            if self._flooded():
                time.sleep(FLOOD_NAP)
            self._frames.flush_if_due()
            if self._keys:
                self._flush_keys()
            if self._looks and time.monotonic() >= self._looks[0]:
                del self._looks[0]
                self._tell("suspend?")
            if self._channels.real is not None:
                self._follow_terminal()
                if self._hint is not None and self._hint.due():
                    self._channels.real.write(WAITS)

    def _serve(self, ready: list[tuple[selectors.SelectorKey, int]]) -> None:
        self._crowded = len(ready) > 1
        self._came = 0
        for key, _events in ready:
            key.data(key.fd)

    def _patience(self) -> float | None:
        """Seconds until something has to be done unasked."""
        due = self._frames.patience
        if self._channels.real is not None:
            due = TERMINAL_CHECK if due is None else min(due, TERMINAL_CHECK)
        if self._looks:
            due = max(0.0, min(due or TERMINAL_CHECK, self._looks[0] - time.monotonic()))
        return due

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
        if self._hint is not None:
            self._hint.shown(data)

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
            self._stop()

    def _flooded(self) -> bool:
        """Tell whether output comes faster than in pieces worth a turn."""
        if not self._came:
            return False
        now = time.monotonic()
        self._flow = self._came if now - self._flow_at > FLOOD_PAUSE else self._flow + self._came
        self._flow_at = now
        return self._flow > FLOOD and self._came < FLOOD_PIECE

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
        if self._hint is not None:
            self._hint.shown(data)
        if self._channels.pass_through or raw:
            self.used_terminal = True
            real.set_raw_output(True)
        else:
            real.set_raw_output(False)
            data = self._echo.feed(data)
        real.write(data)

    # --- what comes from the person ---

    def _on_keys(self, fd: int) -> None:
        try:
            data = os.read(fd, 4096)
        except OSError:
            data = b""
        if not data:  # the terminal was closed
            self._selector.unregister(fd)
            self._stop()
            return
        master = self._channels.master
        assert master is not None
        if _INTERRUPT in data:
            if self._channels.pass_through or not terminals.keys_make_signals(master):
                self._count_presses(data.count(_INTERRUPT))
            else:
                # The guardian sends the signal, so that one press is one step of one ladder.
                data = data.replace(_INTERRUPT, b"")
                self._ending.interrupted_by_key = True
                if self._channels.real is not None:
                    self._channels.real.write(b"^C")
                self._stop()
        if _SUSPEND in data and self._channels.pass_through:
            self._looks = [time.monotonic() + seconds for seconds in _LOOKS_AFTER_SUSPEND]
        elif _SUSPEND in data and self._to_background(master):
            data = data.replace(_SUSPEND, b"")
        self._keys += data
        self._hint = None  # who types knows what is asked

    def _to_background(self, master: int) -> bool:
        """Ask the guardian to go on without us. Not for a program that reads single keys: there it is that program's."""
        ask = self._send_to_background
        if ask is None or not terminals.keys_make_signals(master):
            return False
        outputs = (*self._open, master) if self._channels.screen else tuple(self._open)
        if not ask(outputs):
            return False
        self._send_to_background = None  # the answer comes on the control socket, where the end may come before it
        if self._channels.real is not None:
            self._channels.real.write(b"^Z\n")
        return True

    def _count_presses(self, presses: int) -> None:
        now = time.monotonic()
        self._ending.saw_interrupt_key = True
        self._presses = [at for at in self._presses if now - at < _PRESSES_WITHIN] + [now] * presses
        if len(self._presses) >= _PRESSES:
            self._presses.clear()
            self._ending.interrupted_by_key = True
            self._stop()

    def _stop(self) -> None:
        self._tell("stop")

    def _tell(self, op: str) -> None:
        with suppress(OSError):  # it has ended meanwhile
            wire.send(self._channels.control, {"op": op})

    def _flush_keys(self) -> None:
        """Hand typed bytes to the command; while it does not take them, no more are read."""
        master, real = self._channels.master, self._channels.real
        if master is None or real is None:
            return
        try:
            del self._keys[: os.write(master, self._keys)]
        except BlockingIOError:
            pass
        except OSError:
            self._keys.clear()
        watched = self._selector.get_map()
        if master in watched:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._keys else 0)
            self._selector.modify(master, events, self._on_master)
        if self._keys and real.fd in watched:
            self._selector.unregister(real.fd)
        elif not self._keys and real.fd not in watched:
            self._watch(real.fd, self._on_keys)

    def _follow_terminal(self) -> None:
        """Hand on a new window size; take the keys again after we were suspended and brought back."""
        real, master = self._channels.real, self._channels.master
        if real is None or master is None:
            return
        real.take_again()
        now = terminals.size(real.fd)
        if now != self._size:
            self._size = now
            terminals.set_size(master, now)


def _readable(fd: int) -> int:
    count = array.array("i", [0])
    with suppress(OSError):
        fcntl.ioctl(fd, termios.FIONREAD, count)
    return count[0]
