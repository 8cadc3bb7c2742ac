"""Stop a run from any thread or signal handler."""

from __future__ import annotations

from collections.abc import Callable


class CancellationToken:
    """Cancel once, observe many times. Callbacks run at once, in the thread that cancels; they must not block."""

    __slots__ = ("_callbacks", "reason")

    def __init__(self) -> None:
        self.reason: str | None = None
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self.reason is not None

    def cancel(self, reason: str = "cancelled") -> None:
        """Set the flag; later calls change nothing."""
        if self.reason is not None:
            return
        self.reason = reason
        for callback in tuple(self._callbacks):
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on cancel (now, if that has happened). Returns what unsubscribes it."""
        self._callbacks.append(callback)
        if self.cancelled:
            callback()

        def unsubscribe() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return unsubscribe
