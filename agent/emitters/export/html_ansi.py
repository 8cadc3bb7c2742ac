"""Output of commands as HTML: what a terminal would be given by the emitter's filter, of which only colours are left.

Colours are classes (`f1`, `b4`, `bold`), never styles, and of a palette that can be read on light and on dark; concealed text is
shown. What progress bars wrote over is folded into a sign that says how often.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape

from agent.emitters.terminal_filter import TerminalFilter

LONGEST_LINE = 4_096
_STATES = 3  # a line that was written over more often than this is a progress bar
_FLAGS = {1: "bold", 2: "faint", 3: "italic", 4: "under", 9: "strike", 7: "inverse"}
_OFF = {22: ("bold", "faint"), 23: ("italic",), 24: ("under",), 29: ("strike",), 27: ("inverse",)}
_LEVELS = (0, 95, 135, 175, 215, 255)
_PALETTE = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
)  # fmt: skip


class AnsiHtml:
    """One stream of one command; colours last from piece to piece."""

    def __init__(self) -> None:
        self._filter = TerminalFilter(True, LONGEST_LINE, moves=False)
        self._flags: set[str] = set()
        self._front = self._back = ""

    def feed(self, text: str) -> str:
        """The next piece of output as HTML."""
        filtered = self._filter.feed("stdout", text.encode("utf-8", "replace")).decode("utf-8", "replace")
        return self._html(filtered)

    def close(self) -> str:
        """What was held back because it looked unfinished."""
        return self._html(self._filter.close().decode("utf-8", "replace"))

    def _html(self, text: str) -> str:
        if "\x1b" not in text and not self._flags and not self._front and not self._back:
            return escape(text)
        out: list[str] = []
        for piece in _sgr().split(text):
            if piece.startswith("\x1b["):
                self._style(piece[2:-1])
            elif piece:
                classes = self._classes()
                shown = escape(piece.replace("\x1b", "␛"))
                out.append(f'<span class="{classes}">{shown}</span>' if classes else shown)
        return "".join(out)

    def _classes(self) -> str:
        return " ".join([*sorted(self._flags), *filter(None, (self._front, self._back))])

    def _style(self, parameters: str) -> None:
        numbers = [int(word) if word.isdigit() else 0 for word in re.split("[;:]", parameters)]
        at = 0
        while at < len(numbers):
            number = numbers[at]
            if number in (38, 48, 58):
                color, used = _extended(numbers[at + 1 :])
                at += used
                if number == 38:
                    self._front = color and f"f{color}"
                elif number == 48:
                    self._back = color and f"b{color}"
            else:
                self._simple(number)
            at += 1

    def _simple(self, number: int) -> None:
        if number == 0:
            self._flags.clear()
            self._front = self._back = ""
        elif number in _FLAGS:
            self._flags.add(_FLAGS[number])
        elif number in _OFF:
            self._flags.difference_update(_OFF[number])
        elif 30 <= number <= 37 or 90 <= number <= 97:
            self._front = f"f{number % 10}"
        elif 40 <= number <= 47 or 100 <= number <= 107:
            self._back = f"b{number % 10}"
        elif number == 39:
            self._front = ""
        elif number == 49:
            self._back = ""


def settled(text: str) -> str:
    """Text in which lines that were written over many times show their last state, and how many there were."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_last_state(line) if "\r" in line else line for line in lines)


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state]
    if len(states) <= _STATES:
        return "␍".join(states)
    colors = "".join(_sgr().findall("".join(states[:-1])[-4_096:])[-8:])
    return f"{colors}{states[-1]} ↺{len(states) - 1:,}"


def _extended(rest: list[int]) -> tuple[str, int]:
    """A colour of 256 or 16 million as the nearest of the eight, and how many parameters it took."""
    if rest[:1] == [5] and len(rest) >= 2:
        return _nearest(_of_256(rest[1])), 2
    if rest[:1] == [2] and len(rest) >= 4:
        return _nearest((rest[1], rest[2], rest[3])), 4
    return "", len(rest)


def _of_256(number: int) -> tuple[int, int, int]:
    if number < 16:
        return _PALETTE[number % 8]
    if number < 232:
        cube = number - 16
        return _LEVELS[cube // 36 % 6], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6]
    grey = 8 + 10 * min(number - 232, 23)
    return grey, grey, grey


def _nearest(color: tuple[int, int, int]) -> str:
    def distance(place: int) -> int:
        return sum((min(a, 255) - b) ** 2 for a, b in zip(color, _PALETTE[place], strict=True))

    return str(min(range(8), key=distance))


@cache
def _sgr() -> re.Pattern[str]:
    return re.compile(r"(\x1b\[[0-9;:]*m)")
