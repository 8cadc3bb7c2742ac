"""Not a benchmark by itself: drives the program on a pseudo-terminal and notes when something appears."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

_ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-9;?]*[ -/]*[@-~]|\x1b[=>]|\r")


class Screen:
    """A child on its own pseudo-terminal. Times are `time.perf_counter()` seconds."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str, *, columns: int = 120) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.seen = b""

    @property
    def text(self) -> bytes:
        return _ESCAPES.sub(b"", self.seen)

    def wait(self, pattern: bytes, seconds: float = 20.0) -> float:
        """The time at which `pattern` was on the screen. Raises TimeoutError."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if re.search(pattern, self.text):
                return time.perf_counter()
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    break
                if not data:
                    break
                if b"\x1b[6n" in data:
                    os.write(self.fd, b"\x1b[1;1R")
                self.seen += data
        if re.search(pattern, self.text):
            return time.perf_counter()
        raise TimeoutError(f"{pattern!r} did not appear: {self.text[-600:]!r}")

    def quiet(self, seconds: float = 0.15) -> None:
        """Read until nothing comes for a while."""
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                return

    def send(self, text: str) -> float:
        """Type; the time at which the last byte was handed over."""
        self.seen = b""
        os.write(self.fd, text.encode())
        return time.perf_counter()

    def close(self) -> None:
        """End the child that this object started."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)
