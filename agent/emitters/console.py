"""Print what the command line itself says: answers and rows on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agent.emitters.paint import at_words, cell_width, cut_to_width, paint, safe_cell
from agent.emitters.streams import Sink, sink_of
from agent.protocol.errors import CoreError, EmitError, WriteFailed
from agent.protocol.ports import Emitter
from agent.protocol.records import Record
from agent.text.shown import json_line


def print_rows(
    rows: Iterable[Mapping[str, Any]], *, json: bool, out: Sink, columns: Sequence[str] | None = None
) -> int:
    """Print `rows` to `out` and return how many there were. Raises EmitError.

    JSON: one object a line as the rows come, with all their keys. Table: `columns` (default: the keys of the first row) under
    a heading, widths as the cells need; on a terminal the last column is cut to the width.
    """
    if not json:
        return _table(list(rows), out, columns)
    count = 0
    for row in rows:
        say(json_line(row), out)
        count += 1
    return count


def _table(rows: list[Mapping[str, Any]], out: Sink, columns: Sequence[str] | None) -> int:
    if not rows:
        return 0
    names = list(columns or rows[0])
    cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(cell_width, column)) for column in zip(*cells, strict=True)]
    numeric = [all(type(row.get(name)) in (int, float) for row in rows) for name in names]
    lines = [padded(line, widths, numeric) for line in cells]
    if out.is_tty:
        lines = [cut_to_width(line, out.size()[0]) for line in lines]
    lines[0] = paint(lines[0], "bold", color=out.color)
    say("\n".join(lines), out)
    return len(rows)


def padded(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    """The cells as a line of a table: numbers to the right, words that are too wide cut."""
    line = []
    for text, width, right in zip(cells, widths, numeric, strict=True):
        shown = text if right else cut_to_width(text, width)
        space = " " * (width - cell_width(shown))
        line.append(space + shown if right else shown + space)
    return "  ".join(line).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(item) for item in value)
    return safe_cell(str(value))


class Noticing:
    """An emitter around another one. `lost` says what went wrong first; readers that went away (`| head`) are no fault."""

    def __init__(self, inner: Emitter) -> None:
        self.lost = ""
        self._inner = inner

    async def emit(self, record: Record) -> None:
        try:
            await self._inner.emit(record)
        except WriteFailed as error:
            self.lost = self.lost or str(error) or "unknown reason"
            raise

    def output(self, stream: str, data: bytes) -> None:
        self._inner.output(stream, data)

    def pause(self) -> None:
        """Do what a terminal's emitter does before the program stops."""
        getattr(self._inner, "pause", int)()

    def after_echo(self) -> None:
        """Likewise after the terminal has shown a key."""
        getattr(self._inner, "after_echo", int)()


def say(text: str, out: Sink | None = None) -> None:
    """An answer, as a line on stdout. The text must be safe already. Raises EmitError."""
    (out or sink_of(sys.stdout)).write((text + "\n").encode("utf-8", "replace"))


def say_prose(text: str, out: Sink | None = None) -> None:
    """The same of sentences: on a terminal the lines end between words. Raises EmitError."""
    sink = out or sink_of(sys.stdout)
    say(at_words(text, sink.size()[0]) if sink.is_screen else text, sink)


def complain(text: str, err: Sink | None = None, *, style: str = "") -> None:
    """A message on stderr, coloured where that is wanted; a stderr that is gone is ignored."""
    sink = err or sink_of(sys.stderr)
    try:
        say_prose(paint(text, style, color=sink.color) if style else text, sink)
    except EmitError:
        pass  # there is nobody left to tell


def complain_about(error: CoreError, err: Sink | None = None, *, at_prompt: bool = False) -> None:
    """An error and what to do about it; nothing for one that the person caused with Ctrl-C."""
    from agent.emitters.describe import error_lines

    if error.terminal_message():
        sink = err or sink_of(sys.stderr)
        complain(error_lines(error.info(), color=sink.color, at_prompt=at_prompt), sink)


@contextmanager
def quiet_when_nobody_reads() -> Iterator[None]:
    """Swallow EmitError: `agent-shell … | head` ends quietly."""
    try:
        yield
    except EmitError:
        pass
