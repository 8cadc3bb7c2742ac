"""Goals that were, or are easily, taken for something else: the command that mistakes them is not offered."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent.planner.offline.clauses import without_reason
from agent.planner.offline.confidence import OFFERED
from agent.protocol.replies import Chat, Command, Plan
from tests.support.each import each
from tests.support.needs import needing
from tests.support.tries import sampled, some
from tests.unit.planner.offline.offline_support import answer, goal_item

_FOLDERS = ("src", "docs", "logs", "photos", "backup", "build", "tests")
_FILES = (
    "a.py", "src/main.py", "tests/test_a.py", "notes.txt", "todo.txt", "data.csv", "sales.csv", "data.json", "events.jsonl", "package.json",
    "requirements.txt", "app.log", "report.pdf", "photo.jpg", "config.yml", "archive.tar.gz", "backup.tgz", "x.zip",
)  # fmt: skip


def _rows() -> list[tuple[str, str]]:
    path = os.path.join(os.path.dirname(__file__), "misread_goals.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    return [(goal, mistake) for goal, _, mistake in (line.partition(" => ") for line in lines)]


@pytest.fixture
def world(tmp_path: Path) -> str:
    for folder in _FOLDERS:
        (tmp_path / folder).mkdir()
    for name in _FILES:
        (tmp_path / name).write_text("x = 1\n")
    return str(tmp_path)


@sampled
def test_no_goal_gets_the_command_that_mistakes_it(world: str) -> None:
    rows = _rows()
    assert len(rows) >= 70

    @each(("goal", "mistake"), some(rows, 2), ids=lambda row: row[0])
    def is_not_mistaken(goal: str, mistake: str) -> None:
        reply = answer(goal_item(goal, world))
        commands = [step.command for step in reply.steps] if isinstance(reply, Plan) else []
        if isinstance(reply, Command):
            commands = [reply.command]
            assert reply.confidence is not None
            assert OFFERED <= reply.confidence <= 1
        assert not [command for command in commands if re.search(mistake, command)], commands

    is_not_mistaken()


# What has to be right, since what is wrong with it was known.
_RIGHT = {
    "revert the last commit": "git revert --no-edit HEAD",
    "revert the last 2 commits": "git revert --no-edit HEAD~2..HEAD",
    "undo the last commit but keep the changes": "git reset --soft HEAD~1",
    "install the requirements": "python3 -m pip install -r requirements.txt",
    "install the dependencies": "python3 -m pip install -r requirements.txt",
    "run the tests": "npm test",
    "unpack x.zip into a new folder": "unzip x.zip -d x",
    "extract archive.tar.gz into its own directory": "mkdir -p archive && tar -xf archive.tar.gz -C archive",
    "upload src to bob@example.com": "scp -r src bob@example.com:",
    "stop and remove all containers": "docker ps -aq | xargs -r docker rm -f",
    "is sshd running": "pgrep -a sshd",
    "delete the empty folder build": "rmdir build",
    "remove unused packages": "sudo apt-get autoremove",
    "is curl installed and which version": "command -v curl && curl --version",
    "make a copy of src called src-backup": "cp -a src src-backup",
    "make a copy of the src folder as src-old": "cp -a src src-old",
    "make a copy of notes.txt called old.txt": "cp notes.txt old.txt",
    "install the package called tools": "sudo apt-get install tools",
    "list everything here with sizes, newest first": "ls -lt .",
    "show everything in src with sizes, biggest first": "ls -lS src",
    "list everything in src with sizes": "ls -l src",
    "list everything here, oldest first": "ls -tr .",
    "list everything here by size in ascending order": "ls -Sr .",
    "list everything here by size": "ls -S .",
    "list all files here with sizes, newest first": (
        r"find . -type f -printf '%T@ %s %p\n' | sort -nr | cut -d' ' -f2-"
    ),
    "move everything here to backup": "mkdir -p backup && find . -mindepth 1 -maxdepth 1 -not -samefile backup -exec mv -t backup {} +",
    "copy everything here into a folder called old": (
        "mkdir -p old && find . -mindepth 1 -maxdepth 1 -not -samefile old -exec cp -a -t old {} +"
    ),
    "delete everything in src": "find src -mindepth 1 -delete",
    "delete src and everything in it": "rm -r src",
    "copy notes.txt into a directory called keep": "mkdir -p keep && cp notes.txt keep",
    "copy notes.txt into a folder called docs": "cp notes.txt docs",
    "move notes.txt to the attic folder": "mkdir -p attic && mv notes.txt attic",
    "copy src to a folder called src2": "cp -a src src2",
    "move all .txt files into a new folder named texts": (
        "mkdir -p texts && find . -type f -name '*.txt' -not -path '*/texts/*' -exec mv -t texts {} +"
    ),
    "find all python files in a folder called src": "find src -type f -name '*.py'",
    "find the folder called src": "find . -type d -name src",
}


def test_what_was_mistaken_is_right_now(world: str) -> None:
    @each(("goal", "command"), list(_RIGHT.items()), ids=lambda row: row[0])
    def is_right(goal: str, command: str) -> None:
        reply = answer(goal_item(goal, world))
        assert isinstance(reply, Command), reply
        assert reply.command == command

    is_right()


def test_what_it_is_for_is_left_out_and_told(world: str) -> None:
    for goal, command, reason in (
        ("compress src so that I can send it", "tar -czf src.tar.gz src", "so that I can send it"),
        ("delete a.py because it is old.", "rm a.py", "because it is old"),
        ("make notes.txt executable in order to run it", "chmod +x notes.txt", "in order to run it"),
    ):
        reply = answer(goal_item(goal, world))
        assert isinstance(reply, Command)
        assert (reply.command, reply.unused) == (command, (reason,))


@pytest.mark.parametrize(
    "goal", ["delete the logs so that only notes.txt is left", "delete everything so only notes.txt remains"]
)
def test_what_is_to_be_left_is_not_among_what_could_be_deleted(goal: str, world: str) -> None:
    reply = answer(goal_item(goal, world))
    assert isinstance(reply, Chat)
    assert not [each.command for each in reply.choices if re.search(r"\brm\b|delete|sed -i", each.command)]


@each(
    ("goal", "whole"),
    [
        ("delete the logs so that I keep only app.log", True),
        ("zip src so I can mail it and delete src", True),
        ("find lines with because the in notes.txt", True),
        ("find 'so that I can' in notes.txt", True),
        ("sort notes.txt so that the longest line is last", True),
        ("zip src, so we can mail it", False),
    ],
)
def test_a_reason_that_says_more_stays_in_the_goal(goal: str, whole: bool) -> None:
    assert (without_reason(goal) == (goal, "")) is whole


def test_a_weekday_is_the_one_that_was_said(world: str) -> None:
    # For the planner it is Friday, 2024-05-17.
    for goal, day in (
        ("what date is next friday", "2024-05-24"),
        ("what date was last friday", "2024-05-10"),
        ("which day is the coming monday", "2024-05-20"),
        ("how many days until friday", "2024-05-24"),
        ("find files changed since friday", "2024-05-10"),
        ("find files changed before last monday", "2024-05-13"),
    ):
        reply = answer(goal_item(goal, world))
        assert isinstance(reply, Command)
        assert day in reply.command, goal


def test_a_step_takes_the_order_of_the_one_before(world: str) -> None:
    reply = answer(goal_item("delete a.py and the folder src", world))
    assert isinstance(reply, Plan)
    assert [step.command for step in reply.steps] == ["rm a.py", "rm -r src"]


@needing("ln")
def test_links_point_to_what_was_named(world: str) -> None:
    import subprocess

    for goal, link in (
        ("link notes.txt to docs", "docs/notes.txt"),
        ("link src/main.py as docs/m.py", "docs/m.py"),
        ("make a link to todo.txt in docs", "docs/todo.txt"),
        ("create a symlink from notes.txt to docs/n.txt", "docs/n.txt"),
    ):
        reply = answer(goal_item(goal, world))
        assert isinstance(reply, Command)
        subprocess.run(["sh", "-c", reply.command], cwd=world, check=True, timeout=60)
        assert Path(world, link).is_symlink()
        assert Path(world, link).read_text() == "x = 1\n"


def test_confidence_falls_with_what_speaks_against_a_command() -> None:
    plain = answer(goal_item("count the lines of notes.txt"))
    aside = answer(goal_item("count the lines of notes.txt (all of them)"))
    assert isinstance(plain, Command)
    assert plain.confidence is not None
    if isinstance(aside, Command):
        assert aside.confidence is not None
        assert aside.confidence < plain.confidence
