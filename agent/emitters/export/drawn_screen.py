"""The terminal that a session is drawn on anew: it keeps what is written to it until it is taken."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from functools import cache
from typing import Any

from agent.emitters.export.frames import Look
from agent.emitters.streams import MemorySink


class DrawnScreen(MemorySink):
    """A terminal in memory. Never a mere file, which would be given raw output."""

    def __init__(self, look: Look) -> None:
        super().__init__(is_tty=look.animate, color=look.color, columns=look.columns, rows=look.rows)
        self.is_screen = True

    def take(self) -> str:
        """What was written since the last time."""
        text = self.text
        self._parts.clear()
        return text


def at_once(emitting: Coroutine[Any, Any, None]) -> None:
    """Run what waits for nothing: the planner's waiting, which would want a loop, is drawn here."""
    try:
        emitting.send(None)
    except StopIteration:
        return
    raise AssertionError("the emitter waited for something")


@cache
def _trailing_controls() -> re.Pattern[str]:
    return re.compile(r"(?:\x1b\[[0-9;]*[mJK])+\Z")


def ends_line(text: str) -> bool:
    """Tell whether the cursor stands at the start of a line after `text`."""
    return _trailing_controls().sub("", text[-64:]).endswith("\n")
