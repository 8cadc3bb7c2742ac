"""A foreground group whose shell has stopped is stopped as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from agent.execution.process_tree.tree import states_in_group
from agent.execution.supervision.job_watch import stop_whole_group


def test_a_program_that_missed_the_signal_gets_another() -> None:
    """It sleeps where it should have stopped, and takes no notice of the key's signal."""
    program = "import signal, time; signal.signal(signal.SIGTSTP, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        stop_whole_group(child.pid, lambda: {child.pid})
        assert states_in_group(child.pid, {child.pid}) == {b"T"}
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def test_one_that_has_stopped_is_left_alone() -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        stop_whole_group(child.pid, lambda: {child.pid})
        assert states_in_group(child.pid, {child.pid}) == {b"T"}
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
