"""A sign of life while the planner thinks: a moving dot and the seconds, on a terminal only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agent.emitters.display import Display
from agent.emitters.paint import paint
from agent.protocol.errors import EmitError

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FIRST_AFTER = 0.15  # seconds; quick planners never show it
_EVERY = 0.1


class Spinner:
    """Draws one line on stderr and takes it away again. The caller holds the lock of the display around every method."""

    def __init__(self, display: Display, *, now: Callable[[], float] = time.monotonic) -> None:
        self._display = display
        self._now = now
        self._started: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn = False

    @property
    def running(self) -> bool:
        return self._started is not None

    def start(self, tick: Callable[[], None]) -> None:
        """Begin; `tick` is what the timer calls (it must lock and call `draw`)."""
        self.stop()
        self._started = self._now()
        self._timer = asyncio.get_running_loop().call_later(_FIRST_AFTER, tick)

    def draw(self, tick: Callable[[], None]) -> None:
        """Show the next frame and order another tick."""
        if self._started is None:
            return
        elapsed = self._now() - self._started
        frame = FRAMES[int(elapsed / _EVERY) % len(FRAMES)]
        if not self._drawn:
            self._display.fresh_line("stderr")
        text = paint(f"{frame} thinking… {elapsed:.0f}s", "dim", color=self._display.err.color)
        self._drawn = True
        self._display.write("stderr", f"\r{text}\x1b[K")
        self._timer = asyncio.get_running_loop().call_later(_EVERY, tick)

    def stop(self) -> None:
        """Take the line away. Harmless when nothing is shown; callable from other threads (under the lock)."""
        self._started = None
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if self._drawn:
            self._drawn = False
            try:
                self._display.write("stderr", "\r\x1b[K\r")
            except EmitError:
                pass  # whoever writes next will notice
