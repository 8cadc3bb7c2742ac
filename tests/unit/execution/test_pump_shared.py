"""The pump beside another reader of the same output: a keeper that goes on with a command in the background."""

from __future__ import annotations

import os
import socket
import time

from agent.execution import wire
from agent.execution.capture import HeadTail
from agent.execution.pump import Channels, Pump
from tests.unit.execution.running import MakeRunner


def test_output_that_somebody_else_was_quicker_to_read_is_no_fault() -> None:
    ours, keepers = socket.socketpair()
    read_end, write_end = os.pipe()
    again = os.dup(read_end)  # ready at the same time, and empty once the other was read
    os.set_blocking(read_end, False)
    try:
        os.write(write_end, b"said once")
        wire.send(keepers, {"event": "kept"})
        captures = {"stdout": HeadTail(100, 100), "stderr": HeadTail(100, 100)}
        ending = Pump(Channels(control=ours, outputs={read_end: "stdout", again: "stderr"}), captures, None).run()
        assert ending.kept
        said = [capture.result().head for capture in captures.values()]
        assert sorted(said) == ["", "said once"]
    finally:
        for fd in (read_end, write_end, again):
            os.close(fd)
        ours.close()
        keepers.close()


def test_a_slow_display_is_no_background_process(make_run: MakeRunner) -> None:
    result = make_run()("head -c 1000000 /dev/zero", sink=lambda *_: time.sleep(0.2))
    assert (result.stdout.total_bytes, result.notes) == (1_000_000, ())
