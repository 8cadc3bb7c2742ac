"""The real clock."""

from __future__ import annotations

import time


class SystemClock:
    """Wall time for people, monotonic time for durations (ports.Clock)."""

    def now(self) -> str:
        """UTC, ISO 8601, microseconds, `Z`. Built from the integer clock: `datetime` is not needed for that."""
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds // 1000:06d}Z"

    def monotonic(self) -> float:
        return time.monotonic()
