"""Chat text as it comes, without interpretation."""

from __future__ import annotations

from agent.emitters.display import Display
from agent.emitters.paint import prose


class RawText:
    """A growing message on stdout. `feed`, then `draw` for each frame, then `finish`."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._pending = ""

    def feed(self, text: str) -> None:
        self._pending += text

    def draw(self) -> None:
        """Write what is new."""
        text, self._pending = self._pending, ""
        self._display.write("stdout", prose(text))

    def finish(self) -> None:
        """Write the rest and end the line."""
        self.draw()
        self._display.end_line("stdout")
