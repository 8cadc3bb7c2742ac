"""When to draw: by frames, never by delta."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

MIN_INTERVAL = 0.05  # seconds between two frames: 20 a second
SHARE = 0.02  # of one core that drawing may take


class FramePacer:
    """Calls `draw` soon after `request`, at most 20 times a second, and less often the more CPU time a frame takes."""

    def __init__(
        self,
        draw: Callable[[], None],
        *,
        now: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._draw = draw
        self._now = now
        self._cpu = cpu
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Something is new. Draws now if the last frame is long enough ago, else when it will be."""
        if self._timer is not None:
            return
        wait = self._next - self._now()
        if wait <= 0:
            self._frame()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self._frame)

    def cancel(self) -> None:
        """Forget a frame that was ordered."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _frame(self) -> None:
        self._timer = None
        before = self._cpu()
        self._draw()
        cost = self._cpu() - before
        self._next = self._now() + max(MIN_INTERVAL, cost / SHARE)
