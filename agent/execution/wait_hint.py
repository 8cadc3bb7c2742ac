"""When to tell the person that a command waits for keys, once and only where nothing on the screen says so."""

from __future__ import annotations

import time

from agent.execution import terminal as terminals

QUIET = 1.0  # seconds without output or keys after which to look
RAREST = 32.0  # seconds between looks at a command that stays quiet: each reads the whole process table
WAITS = (
    b"\x1b[2mit waits for input from the terminal: type here (Ctrl-D ends the input, Ctrl-C the command),"
    b" or say :tty on before it\x1b[0m\n"
)


class WaitHint:
    """Of one command with a PTY (`master`, None without one). Tell it what was `shown`; `due` is true at most once."""

    def __init__(self, master: int | None) -> None:
        self._master = master
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = False

    def shown(self, data: bytes) -> None:
        """Something appeared on the screen."""
        self._since = time.monotonic()
        self._pause = QUIET
        self._line_open = not data.endswith((b"\n", b"\r"))

    def due(self) -> bool:
        """Whether to say it now. A line without an end is taken for the question itself, raw mode for a program that draws."""
        if self._master is None or time.monotonic() - self._since < self._pause:
            return False
        self._since, self._pause = time.monotonic(), min(2 * self._pause, RAREST)
        if self._line_open or terminals.is_raw(self._master):
            return False
        from agent.execution.tty_readers import waits_for_keys

        if not waits_for_keys(self._master):
            return False
        self._master = None
        return True
