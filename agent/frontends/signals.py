"""Handle the signals of the process. INT stops what is under way; TERM, HUP and QUIT also end the program, in order."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from agent.protocol.execution import CancellationToken, Processes

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Signals:
    """`ended_by` is the signal that asked the program to end, None so far. `before_stop`: what is done before Ctrl-Z stops it;
    `after_echo`: after a terminal that shows keys has shown Ctrl-C.
    """

    def __init__(self) -> None:
        self.ended_by: signal.Signals | None = None
        self.before_stop: Callable[[], object] = lambda: None
        self.after_echo: Callable[[], object] = lambda: None
        self._token: CancellationToken | None = None
        self._early = False
        self._on_end: Callable[[], object] | None = None
        self._on_interrupt: Callable[[], object] | None = None

    @property
    def exit_code(self) -> int | None:
        """128 + the signal that ended the program, None where none did."""
        return None if self.ended_by is None else 128 + self.ended_by

    @contextmanager
    def installed(self, *, endings_only: bool = False) -> Iterator[None]:
        """Handle signals in the running loop (`endings_only`: without INT and TSTP). Ignored ones (nohup) stay ignored."""
        loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Callable[[], None]] = {
            ending: (lambda number=ending: self._end(number))  # type: ignore[misc]
            for ending in _ENDING
        }
        if not endings_only:
            handlers[signal.SIGINT] = self._interrupt_key
            handlers[signal.SIGTSTP] = self._suspend
        installed = [number for number in handlers if signal.getsignal(number) is not signal.SIG_IGN]
        for number in installed:
            loop.add_signal_handler(number, handlers[number])
        try:
            yield
        finally:
            for number in installed:
                loop.remove_signal_handler(number)

    @contextmanager
    def cancelling(self, token: CancellationToken) -> Iterator[None]:
        """While this lasts, signals cancel `token`."""
        outer, self._token = self._token, token
        if self.ended_by is not None or self._early:
            token.cancel("interrupted")
        self._early = False
        try:
            yield
        finally:
            self._token = outer

    def line_begins(self) -> None:
        """A line was accepted: an INT from now on is meant for what it starts, one from before is not."""
        self._early = False

    @contextmanager
    def stopping(self) -> Iterator[Callable[[], bool]]:
        """While this lasts, the yielded function says whether a signal asked to stop."""
        token = CancellationToken()
        with self.cancelling(token):
            yield lambda: token.cancelled

    @contextmanager
    def ending_prompt(self, leave: Callable[[], object]) -> Iterator[None]:
        """While this lasts, a signal that ends the program calls `leave`; at once where one came before."""
        outer, self._on_end = self._on_end, leave
        if self.ended_by is not None:
            leave()
        try:
            yield
        finally:
            self._on_end = outer

    @contextmanager
    def at_interrupt(self, told: Callable[[], object]) -> Iterator[None]:
        """While this lasts, an INT that ends nothing calls `told`."""
        outer, self._on_interrupt = self._on_interrupt, told
        try:
            yield
        finally:
            self._on_interrupt = outer

    def _interrupt_key(self) -> None:
        self._interrupt()
        if _echoes():
            self.after_echo()

    def _interrupt(self) -> None:
        if self._token is not None:
            self._token.cancel("interrupted")
            return
        self._early = True
        if self._on_interrupt is not None and self.ended_by is None:
            self._on_interrupt()

    def _end(self, number: signal.Signals) -> None:
        if self.ended_by is None:
            self.ended_by = number
        self._interrupt()
        if self._on_end is not None:
            self._on_end()

    def _suspend(self) -> None:
        """Stop like any program, but give the terminal back first and redraw afterwards."""
        from prompt_toolkit.application.current import get_app_or_none

        app = get_app_or_none()
        if app is not None and app.is_running:
            app.create_background_task(_stop_in_terminal())
        else:
            self.before_stop()
            os.kill(os.getpid(), signal.SIGSTOP)


def _echoes() -> bool:
    """Tell whether our terminal shows the keys that are pressed: not where a prompt or a pager reads them."""
    for descriptor in (0, 1, 2):
        with suppress(termios.error):
            return bool(termios.tcgetattr(descriptor)[3] & termios.ECHO)
    return False


def stop_job() -> None:
    """Ctrl-Z typed at a prompt: stop the whole job (`make run` too), as the terminal would; returns when continued.

    Our own handler is put aside: it would stop us a second time after the shell has already continued the job.
    """
    own = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(0, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, own)


async def _stop_in_terminal() -> None:
    from prompt_toolkit.application.run_in_terminal import run_in_terminal

    await run_in_terminal(lambda: os.kill(os.getpid(), signal.SIGSTOP))


class EndingProcesses:
    """ports.Processes over another one: what runs attached is ended by TERM and HUP, and its exit code is then 128 + the signal."""

    def __init__(self, inner: Processes, signals: Signals) -> None:
        self._inner = inner
        self._signals = signals

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        task = asyncio.ensure_future(self._inner.run_attached(argv))
        with self._signals.ending_prompt(task.cancel):
            try:
                return await task
            except asyncio.CancelledError:
                own = asyncio.current_task()
                if self._signals.exit_code is None or (own is not None and own.cancelling()):
                    raise  # it was not for the signal alone
                return self._signals.exit_code

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = 1 << 20
    ) -> tuple[int, str]:
        return await self._inner.capture(argv, cwd=cwd, timeout=timeout, most=most)
