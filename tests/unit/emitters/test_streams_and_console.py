"""Sinks over real descriptors, colour rules, and the few words of the command line."""

from __future__ import annotations

import errno
import io
import os
import pty
import threading

import pytest

from agent.emitters.console import complain, complain_about, quiet_when_nobody_reads, say
from agent.emitters.display import Display
from agent.emitters.streams import FdSink, MemorySink, StreamSink, sink_of, wants_color
from agent.protocol.errors import Cancelled, ClientDisconnected, ConfigError, WriteFailed
from tests.support.each import each


@each(
    ("environ", "tty", "color"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_when_to_colour(environ, tty, color) -> None:
    assert wants_color(environ, is_tty=tty) is color


def test_a_terminal_is_told_from_a_pipe() -> None:
    leader, follower = pty.openpty()
    with open(follower, "w") as stream:
        sink = sink_of(stream, environ={"TERM": "xterm"})
        assert isinstance(sink, FdSink)
        assert (sink.is_tty, sink.color) == (True, True)
        assert sink_of(stream, environ={"TERM": "dumb"}).is_tty is False
        assert sink_of(stream, environ={"TERM": "xterm"}, color=False).color is False
        assert all(number > 0 for number in sink.size())
        sink.write(b"hello\n")
        assert os.read(leader, 100) == b"hello\r\n"
    os.close(leader)


def test_streams_without_descriptor_and_sinks_are_taken_too() -> None:
    text, data = io.StringIO(), io.BytesIO()
    sink_of(text).write("é".encode())
    sink_of(data).write(b"\xff")
    assert (text.getvalue(), data.getvalue()) == ("é", b"\xff")
    memory = MemorySink()
    assert sink_of(memory) is memory
    text.close()
    with pytest.raises(WriteFailed):
        StreamSink(text, is_tty=False, color=False).write(b"x")


def test_a_non_blocking_descriptor_is_waited_for() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    received = bytearray()

    def drain() -> None:
        while chunk := os.read(read_end, 65536):
            received.extend(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    FdSink(write_end, is_tty=False, color=False).write(b"x" * 2_000_000)
    os.close(write_end)
    reader.join()
    os.close(read_end)
    assert len(received) == 2_000_000


def test_faults_of_the_descriptor_have_names() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with pytest.raises(ClientDisconnected):
        FdSink(write_end, is_tty=False, color=False).write(b"x")
    os.close(write_end)
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(WriteFailed) as caught:
        FdSink(full.fileno(), is_tty=False, color=False).write(b"x")
    assert caught.value.__cause__.errno == errno.ENOSPC


def test_lines_share_one_screen_on_terminals_only() -> None:
    out, err = MemorySink(is_tty=True), MemorySink(is_tty=True)
    display = Display(out, err)
    display.write("stdout", "no newline \x1b[0m")
    display.line("stderr", "message")
    display.line("stderr", "another")
    assert (out.text, err.text) == ("no newline \x1b[0m", "\nmessage\nanother\n")
    out, err = MemorySink(), MemorySink(is_tty=True)
    display = Display(out, err)
    display.write("stdout", b"exact")
    display.line("stderr", "message")
    display.fresh_line("stdout")
    assert (out.text, err.text) == ("exact", "message\n")


def test_say_and_complain() -> None:
    out, err = MemorySink(), MemorySink(color=True)
    say("answer", out)
    complain("careful", err, style="yellow")
    complain_about(ConfigError("the file is broken", hint="mend it"), err)
    complain_about(Cancelled(), err)
    complain_about(ConfigError("not so"), err, at_prompt=True)
    assert out.text == "answer\n"
    assert (
        err.text
        == "\x1b[33mcareful\x1b[0m\n\x1b[31magent-shell: the file is broken\x1b[0m\n\x1b[2m  mend it\x1b[0m\n\x1b[31merror: not so\x1b[0m\n"
    )


def test_nobody_there_to_read() -> None:
    class Gone(MemorySink):
        def write(self, data: bytes) -> None:
            raise ClientDisconnected

    complain("x", Gone())
    with pytest.raises(ClientDisconnected):
        say("x", Gone())
    with quiet_when_nobody_reads():
        say("x", Gone())
