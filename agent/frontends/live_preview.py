"""Follow what stands in the prompt with a preview of it, off the key path: once typing pauses, and never of another text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from agent.protocol.ports import PreviewOf
from agent.protocol.rehearsals import Preview

PAUSE = 0.25
"""Seconds without a key after which an edited text is previewed."""


class LivePreview:
    """`known`: of the text that stands there at first. `of` is None where nobody previews edits; then only `known` is shown."""

    def __init__(self, known: Preview | None, of: PreviewOf | None) -> None:
        self._of = of
        self._first: dict[str, Preview | None] = {} if known is None else {known.command: known}
        self._found = dict(self._first)
        self._text = ""
        self._task: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None

    def preview(self, text: str) -> Preview | None:
        """What exactly `text` would do, None while, or where, that is not known."""
        return self._found.get(text)

    def is_pending(self, text: str) -> bool:
        """Tell whether it may still come."""
        return self._of is not None and text not in self._found and bool(text.strip())

    def update(self, text: str) -> None:
        """The prompt holds `text` now."""
        if text == self._text and self._task is not None:
            return
        self._text = text
        self._stop()
        if self.is_pending(text):
            self._task = asyncio.get_running_loop().create_task(self._follow(text))

    async def close(self) -> None:
        """Nothing is under way any more."""
        task = self._task
        self._stop()
        if task is not None:
            with suppress(Exception):  # what went wrong with a preview is no matter of the prompt
                await asyncio.wait({task})

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _follow(self, text: str) -> None:
        assert self._of is not None
        await asyncio.sleep(PAUSE)
        found = None
        with suppress(Exception):  # the gate says so itself before anything runs; here it only means that there is none
            found = await self._of(text)
        self._found = self._first | {text: found}  # the gate holds no more of them either
        self.on_change()
