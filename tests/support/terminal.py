"""A person at a real terminal: a PTY with a screen to read (pyte) and keys to press."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect
import ptyprocess
import pyte

from tests.support.warm_program import in_terminal

ROOT = Path(__file__).resolve().parents[2]
END_OF_PASTE = "\x1b[201~"
CTRL_C, CTRL_D, CTRL_U, CTRL_Z = "\x03", "\x04", "\x15", "\x1a"
PATIENCE = 60.0
DEAD_TIME = 0.6  # seconds: a person has read a question for longer before they press Enter, and a busy program has seen its answer


_QUESTION = re.compile(r"(?!(root |SAFETY OFF )*❯)(■ word|[^●▲■❯]*\S) ❯|(?!goal\b).*\S: ?\Z")
"""A line that asks something, on a dumb terminal, too: what is typed before anybody can have read it is no answer."""


class Spawn(pexpect.spawn):
    """`pexpect.spawn`, quickly where it is a script of ours."""

    def _spawnpty(
        self, args: list[str], *, env: dict[str, str], cwd: str, dimensions: tuple[int, int], **more: Any
    ) -> Any:
        started = in_terminal(args, env=env, cwd=cwd, rows=dimensions[0], columns=dimensions[1])
        if started is None:
            return super()._spawnpty(args, env=env, cwd=cwd, dimensions=dimensions, **more)
        return ptyprocess.PtyProcess(*started)


def row_of(cells: Mapping[int, pyte.screens.Char]) -> str:
    """What stands in a row; the second half of a wide character is a cell without text."""
    return "".join(cells[x].data for x in range(max(cells, default=-1) + 1)).rstrip()


def fresh_modes() -> list[Any]:
    """The settings of a new terminal: those of one in which the program runs already are perhaps the program's."""
    ours, its = os.openpty()
    try:
        return list(termios.tcgetattr(ours))
    finally:
        os.close(ours)
        os.close(its)


class Terminal:
    """The program in a terminal of `columns` x `rows`. `see` waits for words on the screen; nothing here measures time."""

    def __init__(
        self,
        *arguments: str,
        home: Path,
        cwd: Path,
        columns: int = 100,
        rows: int = 30,
        command: list[str] | None = None,
        own: str = "ask",
        **environment: str,
    ) -> None:
        env = {
            "HOME": str(home),
            "PATH": environment.pop("PATH", os.environ["PATH"]),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "AGENT_SESSION_DIR": str(home / "sessions"),
            **({"AGENT_OWN": own} if own else {}),
            **environment,
        }
        words = command or [sys.executable, str(ROOT / "agent_shell.py"), *arguments]
        self._display = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self._display)
        self._display.write_process_input = self._answer  # type: ignore[method-assign]
        self._answered = 0.0
        self.late: list[str] | None = None  # answers that are still on their way, over a slow line
        self.raw = b""
        self._asked = False
        self._new = False  # a question that nobody can have read yet
        self.process = Spawn(
            words[0], words[1:], cwd=str(cwd), env=env, dimensions=(rows, columns), timeout=PATIENCE, echo=True
        )
        self.process.delaybeforesend = None

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
        self.process.close(force=True)

    @property
    def text(self) -> str:
        """Everything that scrolled out of the screen, and the screen."""
        return "\n".join([*map(row_of, self._display.history.top), self.screen])

    @property
    def screen(self) -> str:
        buffer = self._display.buffer
        return "\n".join(row_of(buffer[y]) if y in buffer else "" for y in range(self._display.lines))

    @property
    def line(self) -> str:
        """The row with the cursor."""
        return row_of(self._display.buffer[self._display.cursor.y])

    def pump(self) -> bool:
        """Take what the program wrote by now; False at its end."""
        try:
            data = self.process.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return True
        except (pexpect.EOF, OSError):
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def see(self, pattern: str, *, where: str = "text") -> None:
        """Wait until `pattern` (regex) stands on the screen (`line`, `screen`, or `text` with what scrolled away)."""
        end = time.monotonic() + PATIENCE
        alive = True
        while True:
            if re.search(pattern, getattr(self, where), re.DOTALL):
                # A question may still be being drawn below what was seen of it.
                self._new = self._new or (where != "line" and ("❯" in pattern or "y/N" in pattern))
                return
            if not alive or time.monotonic() > end:
                ended = "" if alive else f"it ended ({self.leaves()}), and "
                raise AssertionError(f"{ended}never saw {pattern!r} in\n{self.text}\nlast bytes: {self.raw[-300:]!r}")
            alive = self.pump()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds, which no row of the screen tells."""
        end = time.monotonic() + PATIENCE
        while not condition():
            alive = self.pump()
            assert alive, f"it ended ({self.leaves()}), and it never came to that in\n{self.text}"
            assert time.monotonic() < end, f"it never came to that in\n{self.text}"

    def type(self, keys: str) -> None:
        asked = keys.endswith("\r") and (self._asked or "Ctrl-C cancels" in self.screen)
        if self._new or asked or _QUESTION.match(self.line):
            self.read(DEAD_TIME)
        self._new = keys.endswith(END_OF_PASTE)  # what comes on its heels is taken for a part of it
        self.process.send(keys)

    def read(self, seconds: float) -> None:
        """Look at what stands there for so long, and as long after the terminal has told that it stands there."""
        began = time.monotonic()
        while time.monotonic() < max(began, self._answered) + seconds and self.pump():
            pass

    def _answer(self, data: str) -> None:
        """Say what the program has asked this terminal."""
        if self.late is not None:
            self.late.append(data)
            return
        self.process.send(data)
        self._answered = time.monotonic()

    def at_prompt(self) -> None:
        """Wait for an empty goal prompt."""
        self.see(r"^(root |SAFETY OFF )*❯( |$)", where="line")
        self._asked = False

    def at_confirmation(self, text: str = "") -> None:
        """Wait for the confirmation prompt holding `text`."""
        # The line of keys stands only under a prompt that is waiting; an answered one further up has none.
        badge = r"([●▲■]( (low|medium|high))?|not rated)( edited)?"
        self.see(rf"{badge} ❯ [^❯]*{re.escape(text)}[^❯]*F1\s+more", where="screen")
        self._asked = self._new = True  # also where the screen is just being drawn

    def are_taken(self) -> bool:
        """Tell whether no key that was typed lies unread in the terminal (where keys are read one by one)."""
        self.pump()
        its = os.open(f"/proc/{self.process.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
        try:
            return fcntl.ioctl(its, termios.FIONREAD, b"\0" * 4) == b"\0" * 4
        finally:
            os.close(its)

    def at_question(self, pattern: str) -> None:
        """Wait for a question whose arrow stands in a row of its own."""
        self.see(pattern, where="screen")
        self._new = True

    def resize(self, columns: int, rows: int) -> None:
        self._display.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def leaves(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        while self.pump():
            pass
        self.process.close()
        if self.process.exitstatus is not None:
            return int(self.process.exitstatus)
        return -int(self.process.signalstatus or 0)
