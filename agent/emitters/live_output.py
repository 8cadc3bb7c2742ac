"""Pass on the output of commands while it comes: filtered for a terminal, exact for a pipe or file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.emitters.display import Display, StreamName

if TYPE_CHECKING:
    from agent.emitters.terminal_filter import TerminalFilter

LONGEST_LINE = 4096
"""Characters of an output line that are shown; log and planner get what their own limits allow."""


class LiveOutput:
    """The output of one command after another on `display`."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._filters: dict[StreamName, TerminalFilter] = {}

    def write(self, name: StreamName, data: bytes) -> None:
        """Pass a piece on. A screen is what people look at: a terminal, also one that is called dumb. Raises EmitError."""
        is_screen = self._display.sink(name).is_screen
        self._display.write(name, self._filter(name).feed(name, data) if is_screen else data)

    def end(self) -> None:
        """End what a command printed: the next thing stands in a line of its own. Raises EmitError."""
        for name, filtered in self._filters.items():
            self._display.write(name, filtered.close())
        self._filters.clear()
        self._display.fresh_lines()

    def _filter(self, name: StreamName) -> TerminalFilter:
        if name not in self._filters:
            from agent.emitters.terminal_filter import TerminalFilter

            sink = self._display.sink(name)
            self._filters[name] = TerminalFilter(sink.color, LONGEST_LINE, moves=sink.is_tty)
        return self._filters[name]
