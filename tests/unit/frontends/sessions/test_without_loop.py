"""Actions that wait for nothing run without an event loop, which need not even be loaded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.frontends.sessions.dispatch import turn, without_loop
from tests.support.pictured_session import pictured
from tests.support.session_folder import SessionFolder

_SHOW = """
import sys
from agent.cli.entry import main
code = main(["sessions", *sys.argv[1:]])
print(code, "asyncio" in sys.modules, file=sys.stderr)
"""


async def _work(turns: int, end: BaseException | None = None) -> int:
    for _ in range(turns):
        await turn()
    if end is not None:
        raise end
    return turns


def test_it_gives_what_a_loop_would() -> None:
    assert without_loop(_work(5)) == asyncio.run(_work(5)) == 5
    assert without_loop(_work(0)) == 0


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
def test_errors_come_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        without_loop(_work(2, error))


def test_work_that_needs_a_loop_is_told_so() -> None:
    async def waits() -> None:
        await asyncio.sleep(1)

    with pytest.raises((AssertionError, RuntimeError), match="event loop"):
        without_loop(waits())


def test_show_and_list_load_none(tmp_path: Path) -> None:
    """What it costs to load one would be the largest part of the time to the first page."""
    folder = SessionFolder(tmp_path)
    folder.put(pictured())
    environ = {**folder.environ, "AGENT_SESSION_DIR": str(folder.path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for action in ("show", "list"):
        ran = subprocess.run(
            [sys.executable, "-c", _SHOW, action],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        assert ran.stdout and ran.stderr.endswith(b"0 False\n"), ran.stderr
