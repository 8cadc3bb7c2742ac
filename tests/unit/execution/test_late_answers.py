"""What a terminal answers to a program that has ended meanwhile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = str(Path(__file__).parents[3])
_CHILD = """
import fcntl, struct, sys, termios, time
from agent.execution.terminal import RealTerminal

real = RealTerminal()
real.take(raw_output=True)
print("ask", flush=True)
count = lambda: struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, b"0000"))[0]
while not count():
    time.sleep(0.01)
real.give_back(used=sys.argv[1] == "used")
attributes = termios.tcgetattr(0)
attributes[3] &= ~termios.ICANON
termios.tcsetattr(0, termios.TCSANOW, attributes)
print("left", count(), flush=True)
"""


@pytest.mark.parametrize(("used", "left"), [("used", 0), ("unused", 6)])
def test_answers_are_typed_into_no_prompt(used: str, left: int) -> None:
    environ = {**os.environ, "PYTHONPATH": ROOT}
    child = pexpect.spawn(sys.executable, ["-c", _CHILD, used], env=environ, echo=False, timeout=60)  # type: ignore[arg-type]  # as it takes
    try:
        child.expect_exact(b"ask")
        child.send("\x1b[1;1R")
        child.expect(rb"left (\d+)")
        assert child.match is not None and int(child.match[1]) == left
    finally:
        child.close(force=True)
