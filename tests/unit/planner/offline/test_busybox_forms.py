"""The forms of recipes for busybox, run with a real one: they do what the forms for GNU do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.planner.offline import recipe_files
from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.replies import Command
from agent.protocol.requests import PlannerRequest
from tests.support.each import each
from tests.support.needs import needing

_BUSYBOX = shutil.which("busybox")
_BASH = shutil.which("bash")
needs_busybox = needing("busybox")

# Goals whose output has to be the same, whoever's programs run: but for blanks, and for the order of what is equal.
_ALIKE = (
    "find the 2 largest files under this folder",
    "list the 2 smallest files in src",
    "what are the 2 oldest files here",
    "total size of all log files",
    "drop column 2 from table.csv",
    "drop column 1 from table.csv",
    "how many days until 2030-01-01",
)


def _proposed(goal: str, cwd: Path, flavour: str) -> str:
    planner = OfflinePlanner(tools_present=lambda name: True, flavour=lambda program, system: flavour)
    item = GoalItem(goal_id="g", text=goal, environment=EnvironmentFacts(os="Linux", cwd=str(cwd)))
    reply = planner.answer(PlannerRequest(history=(item,)))
    assert isinstance(reply, Command), f"{goal}: {reply}"
    return reply.command


@pytest.fixture
def box(tmp_path: Path) -> Callable[[str, Path], str]:
    """Runs a command with the programs of busybox only."""
    assert _BUSYBOX is not None
    folder = tmp_path / "box"
    folder.mkdir()
    for name in subprocess.run([_BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split():
        (folder / name).symlink_to(_BUSYBOX)

    def run(command: str, cwd: Path) -> str:
        done = subprocess.run(
            [str(folder / "sh"), "-c", command],
            cwd=cwd,
            env={"PATH": str(folder)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def world(tmp_path: Path) -> Path:
    root = tmp_path / "world"
    (root / "src").mkdir(parents=True)
    for at, (name, size) in enumerate(
        {"a.log": 10, "b.log": 300, "src/c.py": 50, "src/d e.py": 70, "src/e.py": 5}.items()
    ):
        (root / name).write_text("x" * size)
        os.utime(root / name, (1_700_000_000 + at * 1000,) * 2)
    (root / "table.csv").write_text("a,b,c\n,2,3\n4,5,6\n")
    return root


def _words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@needs_busybox
def test_forms_for_busybox_say_what_those_for_gnu_say(box: Callable[[str, Path], str], world: Path) -> None:
    @each(("goal",), [(goal,) for goal in _ALIKE], ids=lambda row: row[0])
    def says_the_same(goal: str) -> None:
        theirs = _proposed(goal, world, "gnu")
        gnu = subprocess.run(
            [str(_BASH), "-c", theirs], cwd=world, capture_output=True, text=True, timeout=60, check=True
        ).stdout
        ours = _proposed(goal, world, "busybox")
        assert _words(box(ours, world)) == _words(gnu), (ours, theirs)

    says_the_same()


@needs_busybox
@pytest.mark.thorough
def test_forms_for_busybox_run(box: Callable[[str, Path], str], world: Path) -> None:
    goals = (
        "show processes i own",
        "show processes of user root",
        "find zombie processes",
        "which processes use the most cpu",
    )

    @each(("goal",), [(goal,) for goal in goals], ids=lambda row: row[0])
    def runs(goal: str) -> None:
        box(_proposed(goal, world, "busybox"), world)

    runs()


def test_no_form_for_busybox_has_what_only_gnu_knows() -> None:
    only_gnu = re.compile(r"-printf|--null|grep -\w*P|sort -\w*h|--sort|--complement|--exclude-dir|-newermt")
    wrong = [
        (entry.id, form.command)
        for _, entry in recipe_files.load_entries()
        for form in entry.also
        if "busybox" in form.flavour and only_gnu.search(form.command)
    ]
    assert not wrong


def test_nothing_of_gnu_is_composed_for_busybox(world: Path) -> None:
    goal = "find all files changed since 2024-01-01 and print their sizes"
    planner = OfflinePlanner(tools_present=lambda name: True, flavour=lambda program, system: "busybox")
    item = GoalItem(goal_id="g", text=goal, environment=EnvironmentFacts(os="Linux", cwd=str(world)))
    reply = planner.answer(PlannerRequest(history=(item,)))
    assert not isinstance(reply, Command) or "-newermt" not in reply.command
