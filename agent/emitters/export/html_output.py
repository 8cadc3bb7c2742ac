"""Read the output of a command as runs of one look: pieces in the order they came, bounded in size; of escapes only colours are left.

Colours are classes (`f1`, `b4`, `bold`), never styles, and of a palette that can be read on light and on dark; concealed text is
shown. What progress bars wrote over is folded into a sign that says how often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from msgspec import Struct

from agent.audit.story.model import CommandStory, gap_words
from agent.emitters.terminal_filter import TerminalFilter
from agent.text.sizes import counted, size_words

HEAD, TAIL = 64 * 1024, 32 * 1024
"""Characters of one command's output that are on the page."""

LONGEST_LINE = 4_096
_WIDTH = 120  # characters that a line takes, roughly, for the measure of long ones
_STATES = 3  # a line that was written over more often than this is a progress bar
_FLAGS = {1: "bold", 2: "faint", 3: "italic", 4: "under", 9: "strike", 7: "inverse"}
_OFF = {22: ("bold", "faint"), 23: ("italic",), 24: ("under",), 29: ("strike",), 27: ("inverse",)}
_LEVELS = (0, 95, 135, 175, 215, 255)
_PALETTE = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
)  # fmt: skip

Run = tuple[str, str]
"""Classes and text, not escaped."""


class Printed(Struct, frozen=True):
    """The (stream, text) of one command; the stream is "gap" for what is missing."""

    pieces: list[tuple[str, str]]

    @property
    def size(self) -> str:
        """Lines and bytes in words."""
        return f"{counted(max(self._lines, 1), 'line')} · {size_words(self._characters)}"

    @property
    def rows(self) -> int:
        """Rows that it takes on a screen, roughly."""
        return self._lines + self._characters // _WIDTH

    @property
    def has_errors(self) -> bool:
        """True where any of it went to standard error."""
        return any(stream == "stderr" for stream, _ in self.pieces)

    @property
    def _lines(self) -> int:
        return sum(text.count("\n") for _, text in self.pieces)

    @property
    def _characters(self) -> int:
        return sum(len(text) for _, text in self.pieces)

    def shown(self) -> Iterator[Run]:
        """Yield what is on the page."""
        streams = {"stdout": ColoredText(), "stderr": ColoredText("err")}
        fresh = True
        for stream, text in self._bounded():
            if stream == "gap":
                yield "", "" if fresh else "\n"
                yield "gap", text
                yield "", "\n"
                fresh = True
            else:
                yield from streams[stream if stream in streams else "stdout"].feed(text)
                fresh = text.endswith("\n")
        for last in streams.values():
            yield from last.close()

    def _bounded(self) -> list[tuple[str, str]]:
        """The first and the last of all pieces together."""
        if self._characters <= HEAD + TAIL:
            return self.pieces
        head: list[tuple[str, str]] = []
        tail: list[tuple[str, str]] = []
        room = HEAD
        for stream, text in self.pieces:
            if room <= 0:
                break
            head.append((stream, text[:room]))
            room -= len(text)
        room = TAIL
        for stream, text in reversed(self.pieces):
            if room <= 0:
                break
            tail.insert(0, (stream, text[-room:]))
            room -= len(text)
        left_out = self._characters - HEAD - TAIL
        return [*head, ("gap", f"[… {left_out:,} characters are not on this page; the log has them …]"), *tail]


def printed(command: CommandStory) -> Printed | None:
    """The output in order, neighbours of one stream joined; None where there was none."""
    told = [(piece.stream, piece.data) for piece in command.outputs]
    if command.left_out:
        told.append(("gap", f"[… {command.left_out:,} characters left out …]"))
    for stream, dropped, tail in (
        ("stdout", command.stdout_dropped, command.stdout_tail),
        ("stderr", command.stderr_dropped, command.stderr_tail),
    ):
        if dropped:
            told.append(("gap", f"{stream}: {gap_words(dropped)}"))
        if tail:
            told.append((stream, tail))
    joined = groupby(told, lambda piece: piece[0])
    pieces = [(stream, settled("".join(text for _, text in group))) for stream, group in joined]
    return Printed(pieces) if pieces else None


class ColoredText:
    """One stream of one command; colours last from piece to piece. All of it has the class `always`."""

    def __init__(self, always: str = "") -> None:
        self._always = always
        self._filter = TerminalFilter(True, LONGEST_LINE, moves=False)
        self._flags: set[str] = set()
        self._front = self._back = ""

    def feed(self, text: str) -> list[Run]:
        """The next piece of output."""
        filtered = self._filter.feed("stdout", text.encode("utf-8", "replace")).decode("utf-8", "replace")
        return self._runs(filtered)

    def close(self) -> list[Run]:
        """Give out what was held back because it looked unfinished."""
        return self._runs(self._filter.close().decode("utf-8", "replace"))

    def _runs(self, text: str) -> list[Run]:
        out: list[Run] = []
        for piece in _sgr().split(text) if "\x1b" in text else (text,):
            if piece.startswith("\x1b["):
                self._style(piece[2:-1])
            elif piece:
                out.append((self._classes(), piece.replace("\x1b", "␛")))
        return out

    def _classes(self) -> str:
        return " ".join(filter(None, (self._always, *sorted(self._flags), self._front, self._back)))

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
