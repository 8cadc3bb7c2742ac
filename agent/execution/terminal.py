"""Keep the person's terminal while a command runs: raw keys, size, a fresh PTY like it, and everything put back afterwards."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import termios
import tty
from contextlib import suppress
from typing import Any

from agent.config.private_file import closing
from agent.execution.terminal_modes import ModeTracker
from agent.text.shown import fresh_line

_AT_MOST = 2000  # milliseconds that the child waits for us


def leave_terminal() -> None:
    """Call last. Does nothing unless this process leads the session of the terminal at standard input. Never raises."""
    if not hasattr(os, "pidfd_open") or os.getsid(0) != os.getpid():
        return
    try:
        os.tcgetpgrp(0)  # fails where this is not our session's terminal
        ourselves = os.pidfd_open(os.getpid())
    except OSError:
        return
    # Giving up a terminal sends its foreground group, which is ours, a hang-up.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with suppress(OSError):  # we leave like any other program, then
        if os.fork() == 0:
            _hold(ourselves)
        fcntl.ioctl(0, termios.TIOCNOTTY)
    os.close(ourselves)


def _hold(process: int) -> None:
    """The child: nothing but the terminal stays open, until `process` has ended."""
    try:
        for number in (1, 2):
            if not os.isatty(number):
                os.close(number)
        waiting = select.poll()
        waiting.register(process, select.POLLIN)
        waiting.poll(_AT_MOST)
    finally:
        os._exit(0)


_LFLAG, _CC = 3, 6
_TIOCGPTPEER = 0x5441
_MOST_UNREAD = 8192  # more than a PTY holds
_NO_SIZE = (24, 80)


class RealTerminal:
    """The controlling terminal. Raises OSError on opening where there is none or we are in its background."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if os.tcgetpgrp(self.fd) != os.getpgrp():
                raise OSError("not in the foreground of the terminal")
            self.saved: list[Any] = termios.tcgetattr(self.fd)
        except (OSError, termios.error) as error:
            os.close(self.fd)
            raise OSError(*error.args) from error
        self.modes = ModeTracker()
        self._raw_output = False
        self._in_line = False  # what we wrote last did not end its line, as the echo of Ctrl-C

    def take(self, *, raw_output: bool) -> str:
        """Give us every key as it is pressed, from now on; the text that was typed before, which is not an answer to this command.

        `raw_output`: a program draws by itself, so newlines stay bare.
        """
        typed = b""
        with suppress(OSError, termios.error):
            typed = _unread(self.fd)
        self._raw_output = raw_output
        self._apply(termios.TCSAFLUSH)
        return plain_text(typed)

    def set_raw_output(self, raw: bool) -> None:
        """Switch the translation of newlines while keys stay raw."""
        if raw != self._raw_output:
            self._raw_output = raw
            self._apply()

    def take_again(self) -> None:
        """Make the keys raw again where somebody changed that: a shell, while we were suspended."""
        with suppress(OSError, termios.error):  # the terminal is gone; reading keys will say so
            if termios.tcgetattr(self.fd)[_LFLAG] & termios.ICANON and os.tcgetpgrp(self.fd) == os.getpgrp():
                self._apply()

    def _apply(self, when: int = termios.TCSADRAIN) -> None:
        with suppress(OSError, termios.error):  # as above
            tty.setraw(self.fd, when)
            if not self._raw_output:
                attributes = termios.tcgetattr(self.fd)
                attributes[1] = self.saved[1] | termios.OPOST
                termios.tcsetattr(self.fd, termios.TCSADRAIN, attributes)

    def write(self, data: bytes) -> None:
        """Write all of it; a terminal that went away is not an error here."""
        self.modes.feed(data)
        self._in_line = self._in_line if not data else not data.endswith(b"\n")
        with suppress(OSError):
            while data:
                data = data[os.write(self.fd, data) :]

    def give_back(self, *, used: bool) -> None:
        """Restore modes and settings, and close. `used`: the child wrote to this terminal by itself."""
        if used:
            self.write(self.modes.resets())
        if used or self._in_line:
            _rows, columns = size(self.fd)
            self.write(fresh_line(columns).encode())
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            # What a program asked the terminal, and did not wait for, would be typed into the next prompt.
            termios.tcsetattr(self.fd, termios.TCSAFLUSH if used else termios.TCSADRAIN, self.saved)
        except (OSError, termios.error):
            pass  # the terminal is gone
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
            os.close(self.fd)


def size(fd: int) -> tuple[int, int]:
    """Rows and columns; 24 x 80 where the terminal does not say."""
    try:
        rows, columns, _x, _y = struct.unpack("4H", fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8))
    except OSError:
        return _NO_SIZE
    return (rows, columns) if rows and columns else _NO_SIZE


def set_size(fd: int, rows_columns: tuple[int, int]) -> None:
    """Tell a PTY its size; the kernel sends SIGWINCH to who runs in it."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("4H", *rows_columns, 0, 0))


def open_pty(like: RealTerminal | None, *, keep_suspend_key: bool, bare_newlines: bool = False) -> tuple[int, int]:
    """A (master, slave) pair with the settings and size of `like`.

    Without `keep_suspend_key` Ctrl-Z does nothing: nobody could bring a stopped command back. `bare_newlines`: what is
    written comes out as it is, because somebody else turns it into lines.
    """
    master, slave = os.openpty()
    attributes = termios.tcgetattr(slave)
    if like is not None:
        saved = like.saved
        attributes[0], attributes[2], attributes[4:6] = saved[0], saved[2], saved[4:6]
        attributes[_CC] = list(saved[_CC])
        set_size(master, size(like.fd))
    attributes[0] |= termios.ICRNL
    attributes[1] |= termios.OPOST | termios.ONLCR
    if bare_newlines:
        attributes[1] &= ~termios.ONLCR
    attributes[_LFLAG] |= termios.ICANON | termios.ISIG | termios.ECHO | termios.IEXTEN
    if not keep_suspend_key:
        attributes[_CC][termios.VSUSP] = b"\0"
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    return master, slave


def is_raw(master: int) -> bool:
    """Tell whether the program on a PTY reads single keys without echo, so that the terminal is its own."""
    flags = _local_flags(master)
    return flags is not None and not flags & (termios.ICANON | termios.ECHO)


def echoes(master: int) -> bool:
    """Tell whether what is typed into a PTY is shown: a password is not."""
    return bool((_local_flags(master) or 0) & termios.ECHO)


def edited(typed: bytes, master: int) -> bytes:
    """Edit what was typed as a PTY's line discipline does: the bytes a program that reads lines gets, but for keys that end its input."""
    control = termios.tcgetattr(master)[_CC]
    erase, kill = control[termios.VERASE][0], control[termios.VKILL][0]
    out = bytearray()
    for byte in typed.replace(b"\r", b"\n"):
        if byte == kill:
            del out[out.rfind(b"\n") + 1 :]
        elif byte != erase:
            out.append(byte)
        elif not out.endswith(b"\n"):
            while out and out[-1] & 0xC0 == 0x80:  # a letter may be several bytes
                out.pop()
            del out[-1:]
    return bytes(out)


def take_unread(master: int) -> bytes:
    """Take what lies in a PTY for its programs and none has read, also without the end of a line; b"" where that cannot be told."""
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError, termios.error), closing(fcntl.ioctl(master, _TIOCGPTPEER, flags)) as slave:
        return _unread(slave)
    return b""


def _unread(fd: int) -> bytes:
    """Return what lies in a terminal, also without the end of a line. Raises OSError, termios.error."""
    before, modes = termios.tcgetattr(fd), termios.tcgetattr(fd)
    modes[_LFLAG] &= ~(termios.ICANON | termios.ECHO)
    modes[_CC][termios.VMIN], modes[_CC][termios.VTIME] = 0, 0
    termios.tcsetattr(fd, termios.TCSANOW, modes)
    try:
        return os.read(fd, _MOST_UNREAD)
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


def plain_text(typed: bytes) -> str:
    """Return what was typed, "" where it is more than lines of text."""
    with suppress(UnicodeDecodeError):
        text = typed.decode()
        if all(char.isprintable() or char in "\n\t" for char in text):
            return text
    return ""


# Answers to what a program asked the terminal: no key sends them, and no program reads them by lines.
_ANSWERS = re.compile(
    rb"\x1b(?:\[[<=>?][0-9;:]*[ -/]*[@-~]|\[[0-9;]+[Rnt]|(?:\][0-9lL]|P[0-9>!$+|])[^\x07\x1b\r\n]*(?:\x07|\x1b\\))"
)


def typed_keys(data: bytes, master: int) -> bytes:
    """Return what of `data` is typed, for a program on a PTY that reads lines: an answer may be to one that is gone. Others get all."""
    by_lines = b"\x1b" in data and (_local_flags(master) or 0) & termios.ICANON
    return _ANSWERS.sub(b"", data) if by_lines else data


def keys_make_signals(master: int) -> bool:
    """Tell whether Ctrl-C typed into a PTY means SIGINT (and is not just a key)."""
    return bool((_local_flags(master) or 0) & termios.ISIG)


def _local_flags(master: int) -> int | None:
    """The flags by which a PTY takes what is typed; None where they cannot be told."""
    try:
        return int(termios.tcgetattr(master)[_LFLAG])
    except (OSError, termios.error):
        return None
