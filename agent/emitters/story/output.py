"""Recorded output of a command as lines for people: colours stay where they are wanted, nothing else acts on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from agent.audit.story.model import CommandStory, gap_words
from agent.emitters.paint import paint
from agent.emitters.terminal_filter import TerminalFilter

Line = tuple[str, str]
"""Stream ("stdout", "stderr", "" for what is said about them) and text."""

HEAD_LINES, TAIL_LINES = 12, 8
_SLACK = 3  # so few lines more are not worth a gap
_LONGEST = 400  # characters of a line that is not shown in full
_BARS = {"stdout": ("│", "dim"), "stderr": ("┃", "red"), "": ("┊", "dim")}


def output_lines(command: CommandStory, *, color: bool, full: bool) -> Iterator[str]:
    """The output as it came, the streams told apart by the bar before each line. Not `full`: the first and the last lines."""
    blocks = list(_blocks(command))
    missing = sum(_count(text) for _, text in blocks) - HEAD_LINES - TAIL_LINES
    filtered = TerminalFilter(color, None if full else _LONGEST, moves=False)

    def shown(lines: Iterator[Line]) -> Iterator[str]:
        for stream, text in lines:
            yield _barred(stream, _shown(filtered, stream, text, full) if stream else text, color)

    if full or missing <= _SLACK:
        yield from shown(_lines(blocks))
        return
    yield from shown(islice(_lines(blocks), HEAD_LINES))
    yield _barred("", f"… {missing:,} more lines (--full shows them) …", color)
    yield from shown(iter(_last(blocks, TAIL_LINES)))


def recorded_lines(command: CommandStory) -> Iterator[Line]:
    """Lines in the order in which they were recorded, tails last; where the streams take turns, a line ends."""
    return _lines(_blocks(command))


def _lines(blocks: Iterable[Line]) -> Iterator[Line]:
    return (line for stream, text in blocks for line in _split(stream, text))


def _last(blocks: list[Line], count: int) -> list[Line]:
    """The last lines; of megabytes only those are taken apart that are shown."""
    found: list[Line] = []
    for stream, text in reversed(blocks):
        found = [*_split(stream, text), *found]
        if len(found) >= count:
            break
    return found[-count:]


def _blocks(command: CommandStory) -> Iterator[Line]:
    """Whole lines of one stream at a time."""
    stream, held = "", list[str]()
    for piece in command.outputs:
        if piece.stream != stream and held:
            yield stream, "".join(held)
            held.clear()
        stream = piece.stream if piece.stream in ("stdout", "stderr") else "stdout"
        before, newline, rest = piece.data.rpartition("\n")
        if newline:
            yield stream, "".join((*held, before, newline))
            held.clear()
        if rest:
            held.append(rest)
    text = "".join(held)
    ends = {
        "stdout": (command.stdout_dropped, command.stdout_tail),
        "stderr": (command.stderr_dropped, command.stderr_tail),
    }
    dropped, tail = ends.get(stream, (0, ""))
    if text and not dropped:
        text, ends[stream] = text + tail, (0, "")
    yield stream, text
    if command.left_out:
        yield "", f"[… {command.left_out:,} recorded characters are left out here …]"
    for name, (gap, end) in ends.items():
        if gap:
            yield "", f"{name}: {gap_words(gap)}"
        yield name, end


def _count(text: str) -> int:
    """How many lines `_split` makes of it."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _split(stream: str, text: str) -> Iterator[Line]:
    if text:
        yield from ((stream, line) for line in text.removesuffix("\n").split("\n"))


def _shown(filtered: TerminalFilter, stream: str, text: str, full: bool) -> str:
    shown = filtered.feed(stream, (_returned(text, full) + "\n").encode("utf-8", "replace"))
    return shown.decode("utf-8", "replace").replace("\n", "")


def _returned(text: str, full: bool) -> str:
    """What a carriage return wrote over is not lost: it is told in full, or pointed at."""
    text = text.rstrip("\r")
    if "\r" not in text:
        return text
    if full:
        return text.replace("\r", "␍")
    return "…␍" + next((part for part in reversed(text.split("\r")) if part.strip()), "")


def _barred(stream: str, text: str, color: bool) -> str:
    bar, style = _BARS[stream]
    text = text if stream else paint(text, "dim", color=color)
    return f"{paint(bar, style, color=color)} {text}".rstrip()
