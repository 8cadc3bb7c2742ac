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
# Modes that a program may leave switched on: application cursor keys, reverse video, mouse reports and their encodings, focus reports,
# alternate screens, bracketed paste, synchronized output.
_PRIVATE_MODES = (1, 5, 9, 47, *range(1000, 1007), 1015, 1016, 1047, 1049, 2004, 2026)
# And the bytes that switch them off again.
_RESETS: dict[bytes, bytes] = {
    **{b"%d" % number: b"\x1b[?%dl" % number for number in _PRIVATE_MODES},
    b"keypad": b"\x1b>",
    b"cursor": b"\x1b[?25h",
    b"wrap": b"\x1b[?7h",
    b"keyboard": b"\x1b[<u",  # kitty keyboard protocol
    b"modified": b"\x1b[>4m",  # modifyOtherKeys
    b"shape": b"\x1b[0 q",
    b"region": b"\x1b7\x1b[r\x1b8",
    b"charset": b"\x1b(B\x0f",
}
_LONGEST_SEQUENCE = 32


class ModeTracker:
    """Watches bytes on their way to a terminal and knows which modes are left on."""

    def __init__(self) -> None:
        self._on: dict[bytes, None] = {}
        self._carry = b""
        self._pattern: re.Pattern[bytes] | None = None

    def feed(self, data: bytes) -> None:
        """Note the modes that `data` switches; sequences may be split between chunks."""
        if b"\x1b" not in data and not self._carry:
            return
        if self._pattern is None:
            self._pattern = re.compile(
                rb"\x1b(?:\[\?([0-9;]+)([hl])|\[([<>=]?)([0-9;]*)( ?[urqm])|([=>])|(\(0)|(\(B)|(c))", re.DOTALL
            )
        data = self._carry + data
        last = data.rfind(b"\x1b", -_LONGEST_SEQUENCE)
        self._carry = data[last:] if last >= 0 and not self._pattern.match(data, last) else b""
        for match in self._pattern.finditer(data):
            self._note(match)

    def _note(self, match: re.Match[bytes]) -> None:
        numbers, switch, prefix, arguments, final, keypad, graphics, ascii_set, reset = match.groups()
        if numbers is not None:
            for number in numbers.split(b";"):
                # Cursor and wrapping are on by default, so switching them off is what has to be undone.
                name = {b"25": b"cursor", b"7": b"wrap"}.get(number, number)
                self._set(name, (switch == b"h") is (name == number))
        elif final is not None:
            if final == b"u" and prefix in (b">", b"<"):
                self._set(b"keyboard", prefix == b">")
            elif final == b"m" and prefix == b">":
                self._set(b"modified", arguments not in (b"", b"4", b"4;0"))
            elif final == b" q":
                self._set(b"shape", arguments not in (b"", b"0"))
            elif final == b"r" and not prefix:
                self._set(b"region", bool(arguments))
        elif keypad is not None:
            self._set(b"keypad", keypad == b"=")
        elif graphics or ascii_set:
            self._set(b"charset", bool(graphics))
        elif reset:
            self._on.clear()

    def _set(self, name: bytes, on: bool) -> None:
        if on and name in _RESETS:
            self._on[name] = None
        elif not on:
            self._on.pop(name, None)

    def resets(self) -> bytes:
        """The bytes that put the terminal back, last switched first; colours are always reset."""
        return b"".join(_RESETS[name] for name in reversed(self._on)) + b"\x1b[0m"


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
        with suppress(OSError):
            while data:
                data = data[os.write(self.fd, data) :]

    def give_back(self, *, used: bool) -> None:
        """Restore modes and settings, and close. `used`: the child wrote to this terminal by itself."""
        if used:
            self.write(self.modes.resets())
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
    try:
        flags = termios.tcgetattr(master)[_LFLAG]
    except (OSError, termios.error):
        return False
    return not flags & (termios.ICANON | termios.ECHO)


def echoes(master: int) -> bool:
    """Tell whether what is typed into a PTY is shown: a password is not."""
    try:
        return bool(termios.tcgetattr(master)[_LFLAG] & termios.ECHO)
    except (OSError, termios.error):
        return False


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
    try:
        slave = fcntl.ioctl(master, _TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return _unread(slave)
    except (OSError, termios.error):
        return b""
    finally:
        os.close(slave)


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


def keys_make_signals(master: int) -> bool:
    """Tell whether Ctrl-C typed into a PTY means SIGINT (and is not just a key)."""
    try:
        return bool(termios.tcgetattr(master)[_LFLAG] & termios.ISIG)
    except (OSError, termios.error):
        return False
