"""A PATH with `.` in it: the working folder must not choose what runs unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scenarios.program import World, chat, command

NAMES = ("git", "env", "bash", "less", "ls", "sh", "nano", "vim", "cat", "printf")


@pytest.fixture
def hostile(world: World) -> Path:
    """Programs of the folder that leave a trace when they run."""
    for name in NAMES:
        program = world.work / name
        program.write_text(f"#!/bin/sh\necho {name} >> {world.base}/trace\n")
        program.chmod(0o755)
    (world.work / ".git" / "objects").mkdir(parents=True)
    (world.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return world.base / "trace"


@pytest.mark.few(1)
@pytest.mark.parametrize("entry", [".", "", "bin/.."])
def test_nothing_of_the_folder_runs_unasked(world: World, hostile: Path, entry: str) -> None:
    (world.work / "bin").mkdir()
    script = world.scripted(command("ls"), chat("done"))
    ended = world.run(*script, "--approve", "low", "list them", env={"PATH": f"{entry}:{os.environ['PATH']}"})
    assert not hostile.exists(), hostile.read_text()
    assert ended.code != 0  # asked for, and nobody was there
    assert [item["outcome"] for item in world.goal()["commands"]] == ["declined"]


def test_a_fixed_path_asks_nobody(world: World, hostile: Path) -> None:
    script = world.scripted(command("ls"), chat("done"))
    assert world.run(*script, "--approve", "low", "list them").code == 0
    assert not hostile.exists()
