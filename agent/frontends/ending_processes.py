"""Pagers and editors end with us: a signal that ends the program ends what has the terminal at that time."""

from __future__ import annotations

import asyncio

from agent.frontends.signals import Signals
from agent.protocol.ports import Processes


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

    async def capture(self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0) -> tuple[int, str]:
        return await self._inner.capture(argv, cwd=cwd, timeout=timeout)
