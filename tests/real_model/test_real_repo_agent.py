"""A real small language model as the repository's agent: whatever it says, the cycle has an end and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.requests import Limits
from tests.real_model.test_real_model import model_file, pytestmark
from tests.support.cycle_world import CycleWorld, git

__all__ = ["pytestmark"]

TASKS = "# Tasks\n\n## 1. Greet\n\nStatus: todo\n\nWrite hello.txt with the word hello.\n"


def test_whatever_it_says_the_cycle_ends_and_the_checkout_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = CycleWorld(tmp_path, monkeypatch, TASKS)
    world.settings = {"planner": "local", "model": model_file()}
    world.limits = Limits(max_steps=3)
    before = git(world.work, "rev-parse", "HEAD"), git(world.work, "status", "--porcelain")
    outcome = world.cycle()
    (started,) = world.events("cycle.started")
    (finished,) = world.events("cycle.finished")
    assert outcome.goal is not None and world.events("planner.finished")
    assert finished.reason in ("complete", "question", "failed", "budget", "cancelled")
    assert finished.reason != "complete" or finished.url
    assert (git(world.work, "rev-parse", "HEAD"), git(world.work, "status", "--porcelain")) == before
    assert git(world.remote, "rev-parse", "main") == before[0]
    for event in world.events("tool.finished"):
        for path in event.files_written:
            assert Path(started.worktree, path).resolve().is_relative_to(started.worktree)
