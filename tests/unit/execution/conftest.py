"""A real executor on a folder of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.executor import ShellExecutor
from agent.execution.process_tree.helper import Helper
from tests.support.shared_helper import SharedHelper, share_helper
from tests.unit.execution.running import MakeRunner, Marker, Runner
from tests.unit.execution.tty_window import Terminal


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def marker() -> Iterator[Marker]:
    marker = Marker()
    yield marker
    marker.end()


@pytest.fixture(scope="module")
def helper() -> Iterator[Helper]:
    """One for all executors of a module, and no other: what a test does to it concerns that module only."""
    helper = SharedHelper()
    yield helper
    helper.end()


@pytest.fixture
def make_run(
    loop: asyncio.AbstractEventLoop, tmp_path: Path, marker: Marker, helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeRunner]:
    """Executors with options; `env` is small and the same everywhere."""
    made: list[ShellExecutor] = []
    share_helper(monkeypatch, helper)

    def make(**options: object) -> Runner:
        settings = {
            "cwd": str(tmp_path),
            "grace": 0.2,
            "env": {"PATH": os.environ["PATH"], "HOME": str(tmp_path), marker.name: "1"},
        }
        executor = ShellExecutor(**{**settings, **options})  # type: ignore[arg-type]
        made.append(executor)
        return Runner(loop, executor)

    yield make
    for executor in made:
        loop.run_until_complete(executor.close())


@pytest.fixture
def run(make_run: MakeRunner) -> Runner:
    return make_run()


@pytest.fixture
def terminal(tmp_path: Path, marker: Marker) -> Iterator[Terminal]:
    terminal = Terminal(str(tmp_path), marker)
    yield terminal
    if terminal.child is not None:
        terminal.child.close(force=True)
