"""The real clock."""

from __future__ import annotations

import time


class SystemClock:
    """Wall time for people, monotonic time for durations (ports.Clock)."""

    def __init__(self) -> None:
        self._second = (0, "1970-01-01T00:00:00")

    def now(self) -> str:
        """UTC, ISO 8601, microseconds, `Z`. Built from the integer clock: `datetime` is not needed for that."""
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        known, text = self._second
        if known != seconds:
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
            self._second = (seconds, text)  # one object, so that threads never see the halves of two
        return f"{text}.{nanoseconds // 1000:06d}Z"

    def monotonic(self) -> float:
        return time.monotonic()
