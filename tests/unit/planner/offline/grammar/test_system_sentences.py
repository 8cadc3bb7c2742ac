"""Whole sentences: sums, texts, JSON, archives and steps, run for real in a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.replies import Command, Plan
from agent.protocol.requests import PlannerRequest

PLANNER = OfflinePlanner(tools_present=lambda name: True)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("said")
    (place / "crew.json").write_text(
        '[{"name": "Ann", "age": 31}, {"name": "Bo", "age": 20}, {"name": "Cy", "age": 44}]'
    )
    (place / "shop.json").write_text('{"open": true, "goods": [{"id": "a", "left": 0}, {"id": "b", "left": 7}]}')
    (place / "a.txt").write_text("one\n")
    (place / "out").mkdir()
    (place / "src").mkdir()
    with tarfile.open(place / "old.tar", "w") as archive:
        archive.add(place / "a.txt", "deep/a.txt")
    return place


def command_for(goal: str, place: Path) -> str:
    facts = EnvironmentFacts(os="Linux", shell="bash", cwd=str(place), home=str(place), git="", is_root=False)
    reply = PLANNER.answer(PlannerRequest(history=(GoalItem(goal_id="g", text=goal, environment=facts),), stream=False))
    if isinstance(reply, Plan):
        return " && ".join(step.command for step in reply.steps)
    return reply.command if isinstance(reply, Command) else ""


def output_of(command: str, place: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=20,
        env={**os.environ, "LC_ALL": "C"},
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("how much is 12 times 12?", "144"),
        ("calculate 3 to the power of 4", "81"),
        ("count backwards from 3 to 1", "3\n2\n1"),
        ("odd numbers from 1 to 7, separated by commas", "1,3,5,7"),
        ("how many weeks are there between 2024-01-01 and 2024-01-29", "4"),
        ("convert the text Hello to lowercase", "hello"),
        ("reverse the string drawer", "reward"),
        ("how many characters are in the word syzygy", "6"),
        ("convert hex ff to decimal", "255"),
        ("sum of the integers from 1 to 10", "55"),
        ("what files does old.tar hold: show deep/a.txt", ""),
        ("print deep/a.txt from old.tar", "one"),
        ("count the entries in old.tar", "1"),
    ],
)
def test_a_sentence_does_what_it_says(goal: str, wanted: str, world: Path) -> None:
    command = command_for(goal, world)
    assert (output_of(command, world) if command else "") == wanted


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("names of everyone in crew.json where age is over 30", ""),
        ("average age in crew.json", "31.666666666666668"),
        ("how many goods are in shop.json", "2"),
        ("the age of Bo in crew.json", "20"),
        ("names in crew.json sorted by age", "Bo\nAnn\nCy"),
    ],
)
def test_fields_of_a_file_are_known_by_their_names(goal: str, wanted: str, world: Path) -> None:
    command = command_for(goal, world)
    assert (output_of(command, world) if command else "") == wanted


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("create a folder called up", "mkdir -p up"),
        ("copy a.txt to the folder out", "cp a.txt out/"),
        ("list the files in out", "ls out"),
        ("extract old.tar to out", "mkdir -p out && tar -xf old.tar -C out"),
        ("go to src and list the files there", "cd src && ls ."),
    ],
)
def test_what_is_announced_is_a_name(goal: str, command: str, world: Path) -> None:
    assert command_for(goal, world) == command


@pytest.mark.parametrize("name", ["$(touch x).json", "a; rm -rf b.json", "`id`"])
def test_what_is_quoted_stays_one_word(name: str, world: Path) -> None:
    command = command_for(f"length of the word '{name}'", world)
    assert not command or output_of(command, world) == str(len(name))
