"""What a command writes, on its way through the terminal emitter."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Iterator

import pytest

from agent.emitters.display import LONGEST_LINE
from agent.emitters.streams import MemorySink, sink_of
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions


class Window:
    """A terminal as a stream that has a descriptor, and what arrived in it."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        self.stream = os.fdopen(slave, "w")

    def seen(self) -> bytes:
        """What arrived, to the end of a line: it may come in pieces."""
        data = b""
        while not data.endswith(b"\n") and select.select([self._master], [], [], 60)[0]:
            data += os.read(self._master, 65536)
        return data

    def close(self) -> None:
        self.stream.close()
        os.close(self._master)


@pytest.fixture
def window() -> Iterator[Window]:
    window = Window()
    yield window
    window.close()


def test_a_line_without_end_is_cut_on_the_screen_and_whole_in_a_file() -> None:
    screen, file = MemorySink(is_tty=True), MemorySink()
    emitter = TerminalEmitter(TerminalEmitterOptions(), screen, file)
    for _ in range(100):
        emitter.output("stdout", b"x" * 1000)
        emitter.output("stderr", b"y" * 1000)
    emitter.output("stdout", b"\nnext\n")
    assert screen.text == "x" * LONGEST_LINE + " […]\nnext\n"
    assert file.text == "y" * 100_000


@pytest.mark.parametrize("term", ["dumb", "", "xterm"])
def test_no_terminal_is_too_dumb_to_be_protected(window: Window, term: str) -> None:
    """A real one may stand behind TERM=dumb, and its clipboard with it."""
    out = sink_of(window.stream, environ={"TERM": term})
    emitter = TerminalEmitter(TerminalEmitterOptions(), out, MemorySink())
    emitter.output("stdout", b"a\x1b]52;c;aGk=\x07b\x1b[?1049hc\xe2\x80\xae\n")
    assert window.seen() == b"abc<U+202E>\r\n"
