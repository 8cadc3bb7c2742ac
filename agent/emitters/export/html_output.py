"""Read the output of a command as runs of one look: pieces in the order they came, bounded in size; of escapes only colours are left.

Colours are classes (`f1`, `b4`, `bold`), never styles, and of a palette that can be read on light and on dark; concealed text is
shown. What progress bars wrote over is folded into a sign that says how often.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.audit.story.model import CommandStory
from agent.emitters.story_output import recorded_blocks
from agent.emitters.terminal_filter import TerminalFilter
from agent.text.lazy_pattern import lazily
from agent.text.sizes import counted, size_words

if TYPE_CHECKING:
    from rich.color import Color
    from rich.style import Style

HEAD, TAIL = 64 * 1024, 32 * 1024
"""Characters of one command's output that are on the page."""

LONGEST_LINE = 4_096
_WIDTH = 120  # characters that a line takes, roughly, for the measure of long ones
_STATES = 3  # a line that was written over more often than this is a progress bar
_FLAGS = {
    "bold": "bold", "dim": "faint", "italic": "italic", "underline": "under", "strike": "strike", "reverse": "inverse",
}  # fmt: skip
"""The class for each look, by the name that rich has for it."""

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
                yield from streams[stream].feed(text)
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
    """The output in order; None where there was none."""
    pieces = [(stream or "gap", settled(text)) for stream, text in recorded_blocks(command) if text]
    return Printed(pieces) if pieces else None


class ColoredText:
    """One stream of one command; colours last from piece to piece. All of it has the class `always`."""

    def __init__(self, always: str = "") -> None:
        from rich.ansi import AnsiDecoder

        self._always = always
        self._filter = TerminalFilter(True, LONGEST_LINE, moves=False)
        self._decoder = AnsiDecoder()

    def feed(self, text: str) -> list[Run]:
        """The next piece of output."""
        filtered = self._filter.feed("stdout", text.encode("utf-8", "replace")).decode("utf-8", "replace")
        return self._runs(filtered)

    def close(self) -> list[Run]:
        """Give out what was held back because it looked unfinished."""
        return self._runs(self._filter.close().decode("utf-8", "replace"))

    def _runs(self, text: str) -> list[Run]:
        runs: list[Run] = []
        text = _SGR.sub(lambda match: match[0].replace(":", ";"), text)  # both signs separate, and rich knows one
        for line in text.splitlines(keepends=True):
            styled = self._decoder.decode_line(line)
            at = 0
            for span in styled.spans:
                runs += [
                    (self._always, styled.plain[at : span.start]),
                    (self._classes(span.style), styled.plain[span.start : span.end]),
                ]
                at = span.end
            runs.append((self._always, styled.plain[at:]))
        return [run for run in runs if run[1]]

    def _classes(self, style: Style | str) -> str:
        assert not isinstance(style, str)
        flags = (name for name in _FLAGS if getattr(style, name))
        return " ".join(
            filter(
                None,
                (self._always, *map(_FLAGS.__getitem__, flags), _color("f", style.color), _color("b", style.bgcolor)),
            )
        )


def _color(place: str, color: Color | None) -> str:
    """The class for the nearest of the eight colours that the page has."""
    from rich.color import ColorSystem

    if color is None or color.is_default:
        return ""
    return f"{place}{(color.downgrade(ColorSystem.STANDARD).number or 0) % 8}"


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
    colors = "".join(_SGR.findall("".join(states[:-1])[-4_096:])[-8:])
    return f"{colors}{states[-1]} ↺{len(states) - 1:,}"


_SGR = lazily(r"(\x1b\[[0-9;:]*m)")
