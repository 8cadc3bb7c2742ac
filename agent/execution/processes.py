"""Run programs that the host itself starts: editor, pager, facts about git (port `Processes`)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from agent.execution.terminal_modes import AFTER_KILL
from agent.waiting import in_thread

MOST_OUTPUT = 1 << 20
NOT_FOUND = 127
TIMED_OUT = 124
_BY_SIGNAL = 128  # beyond it, exit codes say that a signal ended it
_GRACE = 2.0  # seconds for a pager or an editor to end by itself
# Its own process group in the foreground, so that Ctrl-C reaches the program and not us; done in the child, before exec.
_ATTACH = (
    "import os, signal, sys\n"
    "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
    "os.setpgid(0, 0)\n"
    "os.tcsetpgrp(int(sys.argv[1]), os.getpid())\n"
    "for name in ('SIGTTOU', 'SIGPIPE', 'SIGXFSZ'): signal.signal(getattr(signal, name), signal.SIG_DFL)\n"
    "try: os.execvp(sys.argv[2], sys.argv[2:])\n"
    "except OSError as error: sys.stderr.write(f'{sys.argv[2]}: {error.strerror}\\n'); os._exit(127)\n"
)


class _Attached:
    """The program that has the terminal, for whoever must end it from another thread. `stopped`: that was done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self.stopped = False

    def began(self, pid: int) -> None:
        with self._lock:
            self._pid = pid
            if self.stopped:  # before there was anything to end
                self._send(signal.SIGTERM)

    def ended(self) -> None:
        """From here on the number may be somebody else's."""
        with self._lock:
            self._pid = 0

    def end(self) -> None:
        """Ask it to end; editors keep what is not saved."""
        with self._lock:
            self.stopped = True
            self._send(signal.SIGTERM)

    def kill(self) -> None:
        with self._lock:
            self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if not self._pid:
            return
        with suppress(OSError):
            # A group of its own only where it has the terminal; before it made one, it is alone.
            if os.getpgid(self._pid) == self._pid:
                os.killpg(self._pid, number)
            else:
                os.kill(self._pid, number)


class HostProcesses:
    """Runs programs by argument list, never through a shell. `env` must not hold keys from `.env`; None is our own."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = None if env is None else dict(env)

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        """Run with the person's terminal (editor, pager); the exit code, 127 where it cannot be started. Who cancels this ends the program,
        and has the terminal back as it was.
        """
        attached = _Attached()
        work = asyncio.ensure_future(in_thread(lambda: self._run_attached(argv, attached)))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            attached.end()
            if not (await asyncio.wait((work,), timeout=_GRACE))[0]:
                attached.kill()
                await asyncio.wait((work,), timeout=_GRACE)
            raise

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = MOST_OUTPUT
    ) -> tuple[int, str]:
        """Exit code and stdout, at most `most` bytes of it; 124 after `timeout` seconds, 127 where it cannot be started."""
        return await in_thread(lambda: self.captured(argv, cwd, timeout, most))

    def _run_attached(self, argv: tuple[str, ...], attached: _Attached) -> int:
        import subprocess
        import termios

        terminal = _own_terminal()
        modes: list[Any] | None = None
        if terminal is not None:
            with suppress(termios.error):
                modes = termios.tcgetattr(terminal)
        words = list(argv)
        if terminal is not None:
            words = [sys.executable, "-I", "-S", "-c", _ATTACH, str(terminal), *argv]
        try:
            process = subprocess.Popen(words, env=self._env, pass_fds=() if terminal is None else (terminal,))
        except (OSError, ValueError):
            if terminal is not None:
                os.close(terminal)
            return NOT_FOUND
        code = 0
        try:
            attached.began(process.pid)
            code = _wait_attached(process.pid, terminal)
            return code
        finally:
            attached.ended()
            process.returncode = 0  # it was waited for above, stops included
            if terminal is not None:
                _set_foreground(terminal, os.getpgrp())
                if (attached.stopped or code > _BY_SIGNAL) and modes is not None:
                    with suppress(termios.error):  # a program that is killed leaves them as it had them
                        termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
                if code > _BY_SIGNAL and (os.environ if self._env is None else self._env).get("TERM", "dumb") != "dumb":
                    with suppress(OSError):
                        os.write(terminal, AFTER_KILL)
                os.close(terminal)

    def captured(self, argv: tuple[str, ...], cwd: str, timeout: float, most: int = MOST_OUTPUT) -> tuple[int, str]:
        """The same. Blocks."""
        import subprocess

        words, env = _as_env_would(argv, self._env)
        try:
            null = subprocess.DEVNULL
            process = subprocess.Popen(
                words, cwd=cwd or None, env=env, start_new_session=True,
                stdin=null, stdout=subprocess.PIPE, stderr=null,
            )  # fmt: skip
        except (OSError, ValueError):
            return NOT_FOUND, ""
        assert process.stdout is not None
        with process.stdout as output:
            deadline = time.monotonic() + timeout
            data, in_time = _read_until(output, deadline, most)
        if in_time:
            try:
                code = process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                in_time = False
        if not in_time:
            os.killpg(process.pid, signal.SIGKILL)  # before it is waited for: its children keep the output open, too
            process.wait()
            return TIMED_OUT, data.decode("utf-8", "replace")
        return code if code >= 0 else 128 - code, data.decode("utf-8", "replace")


def _read_until(output: IO[bytes], deadline: float, most: int) -> tuple[bytes, bool]:
    """Read to the end or to the cap; False where the time ran out first."""
    import select

    data = bytearray()
    while len(data) < most:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([output], [], [], left)[0]:
            return bytes(data), False
        piece = os.read(output.fileno(), most - len(data))
        if not piece:
            break
        data += piece
    return bytes(data), True


def _own_terminal() -> int | None:
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    if os.tcgetpgrp(fd) == os.getpgrp():
        return fd
    os.close(fd)
    return None


def _wait_attached(pid: int, terminal: int | None) -> int:
    """Wait for the end; a program that suspends itself is woken at once, since there is no `fg` here."""
    while True:
        _pid, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        if terminal is not None:
            _set_foreground(terminal, pid)
        os.killpg(os.getpgid(pid), signal.SIGCONT)


def _set_foreground(terminal: int, group: int) -> None:
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with suppress(OSError):
            os.tcsetpgrp(terminal, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _as_env_would(argv: tuple[str, ...], env: Mapping[str, str] | None) -> tuple[list[str], Mapping[str, str] | None]:
    """Take the variables that `env` would set out of the words, and set them: one program less to start."""
    if argv[:1] != ("env",):
        return [*argv], env
    end = next((at for at, word in enumerate(argv[1:], 1) if "=" not in word or word.startswith("-")), len(argv))
    if end == len(argv) or argv[end].startswith("-"):
        return [*argv], env
    given = dict(word.split("=", 1) for word in argv[1:end])
    return [*argv[end:]], {**(os.environ if env is None else env), **given}
