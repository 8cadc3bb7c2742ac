"""Whoever sees the terminal go also sees that the program has ended."""

import os
import pty
import subprocess
import sys

import pytest

CODE = """
from agent.execution.terminal import leave_terminal
input()
leave_terminal()
"""


def ended_when_the_terminal_goes() -> bool:
    """Start a session leader on a terminal of its own and end it; the answer is taken at the hang-up, without waiting."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", CODE])
    os.write(terminal, b"\n")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
    ended = os.waitpid(pid, os.WNOHANG)[0] == pid
    if not ended:
        os.waitpid(pid, 0)
    os.close(terminal)
    return ended


@pytest.mark.thorough
def test_the_terminal_stays_until_the_program_is_gone() -> None:
    assert all(ended_when_the_terminal_goes() for _ in range(10))


def test_without_a_terminal_nothing_happens() -> None:
    code = "from agent.execution.terminal import leave_terminal\nleave_terminal()\nprint('left')"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout == "left\n"
