"""Tell an answer from keys that are none: pressed before the question stood there, held down, or the end of what was begun before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_YOUNG = 1.0  # seconds: a key that was held when the question came begins to repeat within them
_BREATH = 0.5  # seconds: who types on within them has not looked up
_REPEAT = 0.12  # seconds in which a key that is held has come again


class EnterGuard:
    """Counts Enter as an answer `dead` seconds after the question was painted, and as long after the last Enter.

    Painted it is when the terminal says so: over a slow line, keys from before it may still be on their way. `ask` has it say so, and
    returns the number of that answer, and the seconds after which it does not come any more.

    While the question is young it waits whether the key comes again, which says that it is held. `dead` of 0 lets everything pass.
    Text that is begun before anybody can have read the question is no answer to its end, nor is its Enter; `begun` before it was painted.
    """

    def __init__(
        self,
        dead: float,
        now: Callable[[], float] = time.monotonic,
        *,
        begun: bool = False,
        ask: Callable[[], tuple[int, float]] = lambda: (0, 0.0),
    ) -> None:
        self._dead = dead
        self._now = now
        self._ask = ask
        self._answer = 0
        self._painted = float("inf")
        self._last = float("-inf")
        self._early = now() if begun else float("-inf")  # the latest key of what was begun too early
        self._waiting: asyncio.TimerHandle | None = None

    @property
    def is_painted(self) -> bool:
        """Tell whether the question stands on the screen."""
        return self._now() >= self._painted

    @property
    def is_early(self) -> bool:
        """Tell whether a key that comes now belongs to what was typed before the question was read."""
        if not self.is_painted or not self._dead:
            return not self.is_painted
        return self._now() - self._painted < self._dead or self.goes_on

    @property
    def goes_on(self) -> bool:
        """Tell whether text that was begun too early is still being typed."""
        return self._now() - self._early < _BREATH

    def early_key(self) -> None:
        """Such a key came."""
        self._early = self._now()

    def painted(self) -> None:
        """The question was drawn; told again with each frame."""
        if self._painted == float("inf"):
            self._answer, within = self._ask() if self._dead else (0, 0.0)
            self._painted = self._now() + within

    def answered(self, number: str) -> None:
        """The terminal has answered for this time: all that was drawn before it was asked stands on the screen."""
        if self._answer and number.isdigit() and int(number) >= self._answer:
            self._painted = min(self._painted, self._now())

    def pressed(self, accept: Callable[[], None]) -> None:
        """Call `accept` where this Enter is an answer, at once or a moment later."""
        if not self._dead:
            accept()
            return
        now = self._now()
        since, self._last = now - self._last, now
        self.other_key()
        age = now - self._painted if self.is_painted else 0.0
        if age < self._dead or since < self._dead:
            return
        if age >= _YOUNG:
            accept()
        else:
            self._waiting = asyncio.get_running_loop().call_later(_REPEAT, accept)

    def other_key(self) -> None:
        """Something else was pressed, or the prompt is gone: what waits is no answer any more."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
