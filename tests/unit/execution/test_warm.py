"""What the background loads, no first command and no first preview waits for."""

from __future__ import annotations

import subprocess
import sys

from agent.execution.executor import ShellExecutor

_SCRIPT = """
import sys
from agent.execution.executor import ShellExecutor

executor = ShellExecutor(cwd="/", env={"PATH": "/usr/bin:/bin"})
rehearser = "agent.execution.rehearsal.rehearser"
assert rehearser not in sys.modules
executor._warm()
assert rehearser in sys.modules
executor._helper.close()
"""


def test_the_rehearser_is_loaded_when_the_session_is_warm_and_not_before() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_helper_that_cannot_start_is_no_matter_of_warming(monkeypatch) -> None:
    executor = ShellExecutor(cwd="/", env={"PATH": "/nowhere"})

    def fails() -> None:
        raise OSError("no memory")

    monkeypatch.setattr(executor._helper, "start", fails)
    executor._warm()
