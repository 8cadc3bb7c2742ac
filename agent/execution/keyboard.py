"""Hand what the person types to a command with a terminal, act on Ctrl-C and Ctrl-Z, and say where it waits for keys."""

from __future__ import annotations

import fcntl
import os
import platform
import selectors
import struct
import time
from collections.abc import Callable

from agent.execution import terminal as terminals
from agent.execution.process_tree.cgroups import stat_fields

QUIET = 1.0  # seconds without output or keys after which to look
RAREST = 32.0  # seconds between looks at a command that stays quiet: each reads the whole process table
WAITS = (
    b"\x1b[2mit waits for input from the terminal: type here (Ctrl-D ends the input, Ctrl-C the command),"
    b" or say :tty on before it\x1b[0m\n"
)


TERMINAL_CHECK = 0.2  # seconds between looks at the window size and settings
_MOST_TYPED = 8192
_INTERRUPT = b"\x03"
_SUSPEND = b"\x1a"
_LOOKS_AFTER_SUSPEND = (0.1, 0.5)  # seconds that a program may take to stop itself for Ctrl-Z
_PRESSES, _PRESSES_WITHIN = 3, 1.5  # Ctrl-C this often within so many seconds stops a program that owns the terminal


class Keyboard:
    """The person's end of one command with a PTY; `pass_through`: its program owns the whole terminal.

    `tell` sends an order to the guardian; `to_background` asks it to go on without us, true where it was asked.
    `interrupted`: we stopped it for Ctrl-C; `passed_interrupt`: a program that owns the terminal got the key.
    """

    def __init__(
        self,
        real: terminals.RealTerminal,
        master: int,
        selector: selectors.BaseSelector,
        *,
        pass_through: bool,
        tell: Callable[[str], None],
        to_background: Callable[[], bool],
    ) -> None:
        self._real = real
        self._master = master
        self._selector = selector
        self._pass_through = pass_through
        self._tell = tell
        self._to_background = to_background
        self._keys = bytearray()
        self._typed = bytearray()  # what the command was handed, since it last asked for something that is not shown
        self._presses: list[float] = []
        self._looks: list[float] = []  # when to look whether Ctrl-Z has stopped the program
        self._size = terminals.size(real.fd)
        self._hint = None if pass_through else WaitHint(master)
        self.interrupted = self.passed_interrupt = False

    def watch(self) -> None:
        self._selector.register(self._real.fd, selectors.EVENT_READ, self._on_keys)

    @property
    def patience(self) -> float:
        """Seconds until `turn` has to be called."""
        return max(0.0, min([TERMINAL_CHECK, *(at - time.monotonic() for at in self._looks[:1])]))

    def shown(self, data: bytes) -> None:
        """The person sees `data` of the command's output."""
        if self._hint is not None:
            self._hint.shown(data)

    def turn(self) -> None:
        """Do what is due."""
        if self._keys:
            self._flush()
        if self._looks and time.monotonic() >= self._looks[0]:
            del self._looks[0]
            self._tell("suspend?")
        self._real.take_again()  # after we were suspended and brought back
        now = terminals.size(self._real.fd)
        if now != self._size:
            self._size = now
            terminals.set_size(self._master, now)
        if self._hint is not None and self._hint.due():
            self._real.write(WAITS)

    def _on_keys(self, fd: int) -> None:
        try:
            data = os.read(fd, 4096)
        except OSError:
            data = b""
        if not data:  # the terminal was closed
            self._selector.unregister(fd)
            self._tell("stop")
            return
        data = terminals.typed_keys(data, self._master)
        if _INTERRUPT in data:
            if self._pass_through or not terminals.keys_make_signals(self._master):
                self._count_presses(data.count(_INTERRUPT))
            else:
                # The guardian sends the signal, so that one press is one step of one ladder.
                data = data.rpartition(_INTERRUPT)[2]  # as a terminal does it, what was typed before goes with it
                self._keys.clear()
                self._typed.clear()
                self.interrupted = True
                self._real.write(b"^C")
                self._tell("stop")
        if _SUSPEND in data and self._pass_through:
            self._looks = [time.monotonic() + seconds for seconds in _LOOKS_AFTER_SUSPEND]
        # Not for a program that reads single keys: there it is that program's.
        elif _SUSPEND in data and terminals.keys_make_signals(self._master) and self._to_background():
            self._real.write(b"^Z\n")
            data = data.replace(_SUSPEND, b"")
        self._keys += data
        self._hint = None  # who types knows what is asked

    def _count_presses(self, presses: int) -> None:
        now = time.monotonic()
        self.passed_interrupt = True
        self._presses = [at for at in self._presses if now - at < _PRESSES_WITHIN] + [now] * presses
        if len(self._presses) >= _PRESSES:
            self._presses.clear()
            self.interrupted = True
            self._tell("stop")

    def _flush(self) -> None:
        """Hand typed bytes to the command; while it does not take them, no more are read."""
        try:
            taken = os.write(self._master, self._keys)
            self._typed += self._keys[:taken]
            del self._keys[:taken], self._typed[:-_MOST_TYPED]
            if not terminals.echoes(self._master):
                self._typed.clear()
        except BlockingIOError:
            pass
        except OSError:
            self._keys.clear()
        watched = self._selector.get_map()
        if self._master in watched:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._keys else 0)
            self._selector.modify(self._master, events, watched[self._master].data)
        if self._keys and self._real.fd in watched:
            self._selector.unregister(self._real.fd)
        elif not self._keys and self._real.fd not in watched:
            self.watch()

    def unread(self) -> str:
        """Take for the next prompt the plain text that the ended command was handed and did not read.

        "" in doubt: where it is not the end of what was typed (a program may have put it there), was not shown, or is more than text.
        """
        if self._pass_through or not self._typed or not terminals.echoes(self._master):
            return ""
        left = terminals.take_unread(self._master)
        typed = terminals.edited(bytes(self._typed), self._master)
        if not left or not typed.endswith(left):
            return ""
        text = terminals.plain_text(left)
        if text and not text.endswith("\n"):
            self._real.write(b"\n")  # it stands there as it was typed; what comes next begins a line
        return text


class WaitHint:
    """Of one command with a PTY (`master`). Tell it what was `shown`; `due` is true at most once."""

    def __init__(self, master: int) -> None:
        self._master: int | None = master
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = False

    def shown(self, data: bytes) -> None:
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = not data.endswith((b"\n", b"\r"))

    def due(self) -> bool:
        """Tell whether to say it now. A line without an end is taken for the question itself, raw mode for a program that draws."""
        if self._master is None or time.monotonic() - self._since < self._pause:
            return False
        self._since, self._pause = time.monotonic(), min(2 * self._pause, RAREST)
        if self._line_open or terminals.is_raw(self._master) or not waits_for_keys(self._master):
            return False
        self._master = None
        return True


_TIOCGPTN = 0x80045430
_DEV_TTY = os.makedev(5, 0)
# The number of read(2). Programs that wait in select or poll have taken the terminal for themselves before (readline does).
_READ = {"x86_64": 0, "aarch64": 63, "riscv64": 63}


def waits_for_keys(master: int) -> bool:
    """Tell whether a program on the PTY behind `master` sleeps until something is typed."""
    number = _READ.get(platform.machine())
    if number is None:
        return False
    try:
        group = os.tcgetpgrp(master)
        (index,) = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))
        device = os.stat(f"/dev/pts/{index}").st_rdev
        names = os.listdir("/proc")
    except OSError:
        return False
    return any(name.isdigit() and _sleeps_in_read(name, group, device, number) for name in names)


def _sleeps_in_read(pid: str, group: int, device: int, read: int) -> bool:
    try:
        state, _parent, its_group = stat_fields(pid)[:3]
        if state != b"S" or int(its_group) != group:
            return False
        with open(f"/proc/{pid}/syscall", "rb") as file:
            words = file.read().split()
        if int(words[0]) != read:
            return False
        return os.stat(f"/proc/{pid}/fd/{int(words[1], 16)}").st_rdev in (device, _DEV_TTY)
    except (OSError, ValueError, IndexError):
        return False  # it ended meanwhile, runs, or is another user's
