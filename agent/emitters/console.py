"""The few ways in which the command line itself speaks: answers on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from agent.emitters.paint import paint
from agent.emitters.streams import Sink, sink_of
from agent.protocol.errors import CoreError, EmitError, WriteFailed
from agent.protocol.events import Record
from agent.protocol.ports import Emitter


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


def say(text: str, out: Sink | None = None) -> None:
    """An answer, as a line on stdout. The text must be safe already. Raises EmitError."""
    _line(text, out or sink_of(sys.stdout))


def complain(text: str, err: Sink | None = None, *, style: str = "") -> None:
    """A message on stderr, coloured where that is wanted; a stderr that is gone is ignored."""
    sink = err or sink_of(sys.stderr)
    try:
        _line(paint(text, style, color=sink.color) if style else text, sink)
    except EmitError:
        pass  # there is nobody left to tell


def complain_about(error: CoreError, err: Sink | None = None) -> None:
    """An error and what to do about it; nothing for one that the person caused with Ctrl-C."""
    from agent.emitters.describe import error_lines

    if error.terminal_message():
        sink = err or sink_of(sys.stderr)
        complain(error_lines(error.info(), color=sink.color), sink)


@contextmanager
def quiet_when_nobody_reads() -> Iterator[None]:
    """Swallow EmitError: `agent-shell … | head` ends quietly."""
    try:
        yield
    except EmitError:
        pass


def _line(text: str, sink: Sink) -> None:
    sink.write((text + "\n").encode("utf-8", "replace"))
