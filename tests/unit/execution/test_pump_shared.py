"""The pump beside another reader of the same output: a guardian that goes on with a command in the background."""

from __future__ import annotations

import os
import selectors
import socket
import time
import tty

import pytest

from agent.execution.output import Channels, HeadTail
from agent.execution.process_tree import wire
from agent.execution.pump import Pump
from tests.unit.execution.running import MakeRunner


def test_output_that_somebody_else_was_quicker_to_read_is_no_fault() -> None:
    ours, guardians = socket.socketpair()
    read_end, write_end = os.pipe()
    again = os.dup(read_end)  # ready at the same time, and empty once the other was read
    os.set_blocking(read_end, False)
    try:
        os.write(write_end, b"said once")
        wire.send(guardians, {"event": "kept"})
        captures = {"stdout": HeadTail(100, 100), "stderr": HeadTail(100, 100)}
        ending = Pump(Channels(control=ours, outputs={read_end: "stdout", again: "stderr"}), captures, None).run()
        assert ending.kept
        said = [capture.result().head for capture in captures.values()]
        assert sorted(said) == ["", "said once"]
    finally:
        for fd in (read_end, write_end, again):
            os.close(fd)
        ours.close()
        guardians.close()


class LateSelector(selectors.SelectSelector):
    """Does not tell of a PTY: the kernel hands on what is written to one from a queue, and tells of it once it has."""

    late = -1

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return [(key, events) for key, events in super().select(timeout) if key.fd != self.late]


@pytest.mark.parametrize("event", ["ended", "suspended"])
def test_the_last_words_on_a_terminal_are_read_though_nothing_tells_of_them(
    monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    ours, guardians = socket.socketpair()
    master, slave = os.openpty()
    tty.setraw(slave)
    try:
        monkeypatch.setattr(selectors, "DefaultSelector", LateSelector)
        monkeypatch.setattr(LateSelector, "late", master)
        os.write(slave, b"\x1b[?1049h" + b"x" * 3000)
        wire.send(guardians, {"event": event})
        captures = {"stdout": HeadTail(0, 4000), "stderr": HeadTail(0, 100)}
        Pump(Channels(control=ours, outputs={}, master=master, pass_through=True), captures, None).run()
        assert captures["stdout"].total == 3008
    finally:
        for fd in (master, slave):
            os.close(fd)
        ours.close()
        guardians.close()


def test_a_slow_display_is_no_background_process(make_run: MakeRunner) -> None:
    result = make_run()("head -c 1000000 /dev/zero", sink=lambda *_: time.sleep(0.2))
    assert (result.stdout.total_bytes, result.notes) == (1_000_000, ())
