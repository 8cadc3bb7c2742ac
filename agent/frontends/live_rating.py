"""Rate what stands in the prompt, off the key path: one rating at a time, always of the newest text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level, RiskContext, RiskReport

if TYPE_CHECKING:
    import asyncio

Rate = Callable[..., RiskReport]
"""`(command, cwd, session) -> report`"""
Context = Callable[..., RiskContext]
LIMIT = 20_000


def no_context(command: str, cwd: str, session: str = "") -> RiskContext:
    """Nothing is known but the folder."""
    del command, session
    return RiskContext(cwd=cwd)


class LiveRating:
    """Rates in a thread while a person types. What it says is for the eye; the gate rates again."""

    def __init__(
        self, rate: Rate, cwd: str, known: RiskReport, on_change: Callable[[], None], *, session: str = ""
    ) -> None:
        self._rate = rate
        self._cwd = cwd
        self._session = session
        self._known: RiskReport | None = known
        self._text = known.command
        self._on_change = on_change
        self._task: asyncio.Task[None] | None = None

    def level(self, text: str) -> Level | None:
        """The level of exactly `text`, None while it is not known."""
        report = self.report(text)
        return report.level if report is not None else None

    def report(self, text: str) -> RiskReport | None:
        return self._known if self._known is not None and self._known.command == text else None

    def update(self, text: str) -> None:
        """The prompt holds `text` now."""
        self._text = text
        if len(text) > LIMIT or self.level(text) is not None or not text.strip():
            return
        if self._task is None or self._task.done():
            import asyncio

            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        import asyncio

        while self.level(self._text) is None and len(self._text) <= LIMIT:
            text = self._text
            try:
                self._known = await asyncio.to_thread(self._rate, text, self._cwd, self._session)
            except Exception:  # a broken classifier shows as "unrated" here and as high at the gate
                return
            if self._known.command != text:
                return
            self._on_change()

    async def close(self) -> None:
        """Wait until no rating is under way: the classifier's parser is used by one thread at a time."""
        if self._task is not None:
            import asyncio

            await asyncio.shield(asyncio.gather(self._task, return_exceptions=True))
