"""What the offline planner composes never changes the inside of a repository or of installed packages, unless they are named."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.planner.offline.recipes import load_book
from agent.planner.offline.spared_folders import SPARED, without_spared_folders
from agent.protocol.decisions import RiskContext
from agent.protocol.replies import Command
from agent.risk.classifier import classify
from agent.risk.programs.find_expressions import STORES
from tests.support.each import each
from tests.support.tries import sampled, some
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item

GOALS = [
    "delete all empty folders", "delete all empty files", "delete files older than 30 days", "delete all files bigger than 1 kB",
    "remove all symlinks", "delete all .sample files", "rename all .sample files to .txt", "add the prefix old_ to all .sample files",
    "replace 'ref' with 'xxx' in all files", "replace 'ref' with 'xxx' in all .sample files", "make all .sample files executable",
    "change the permissions of all .sample files to 600", "set the permissions of . recursively to 700",
    "move all .sample files to out", "delete everything in .", "compress all .sample files", "delete all files named config",
    "delete all files not modified in the last 2 days", "make all files read only", "rename all files to lower case",
    "remove write permission from all folders", "delete all files containing ref", "convert the names of all files to upper case",
]  # fmt: skip


class EveryFolder(dict[str, tuple[str, ...]]):
    """Facts of a machine where each folder holds repositories, and folders below do."""

    def __bool__(self) -> bool:
        return True

    def get(self, key: str, default: object = None) -> tuple[str, ...]:  # type: ignore[override]
        return ("dir", *(f"holds={above}{store}" for above in ("", "sub/") for store in STORES))


def reaches(command: str) -> list[str]:
    """The repositories that a change would reach, as the classifier sees it."""
    context = RiskContext(cwd="/home/you/w", home="/home/you", workspace="/home/you/w", facts=EveryFolder())
    found = [
        finding.reason
        for finding in classify(command, context).findings
        if "inside of the repository" in finding.reason
    ]
    named = [store for store in STORES if store in command.partition("-prune -o")[2]]
    return [reason for reason in found if not any(store in reason for store in named)]


def examples() -> list[str]:
    return [example.goal for recipe in load_book().recipes for example in recipe.entry.examples]


@pytest.mark.thorough
def test_no_recipe_changes_what_it_walks_through_in_a_repository() -> None:
    replies = [(goal, answer(goal_item(goal, cwd="/home/you/w"))) for goal in examples()]
    commands = {
        (goal, command)
        for goal, reply in replies
        if isinstance(reply, Command)
        for command in (reply.command, *(other.command for other in reply.alternatives))
    }
    walking = {(goal, command) for goal, command in commands if not re.match(r"(?:sudo )?(?:rm -r|git )", command)}
    assert [(goal, command) for goal, command in walking if reaches(command)] == []
    assert sum(command != without_spared_folders(command) for _, command in walking) == 0  # once is enough
    assert sum("-prune -o" in command or "-not -path" in command for _, command in walking) > 10


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    work = tmp_path / "w"
    for top in (work, work / "sub"):
        subprocess.run(
            ["git", "init", "-q", str(top)], check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        )
        (top / "a.txt").write_text("ref one\n")
        (top / "b.sample").write_text("ref two\n")
    for store in (".hg", "sub/.svn", ".jj", "node_modules/x", ".venv/lib"):
        (work / store / "empty").mkdir(parents=True)
        for name in ("config", "x.sample", "zero"):
            (work / store / name).write_text("" if name == "zero" else "ref\n" * 999)
    (work / "out").mkdir()
    (work / "empty/inner").mkdir(parents=True)
    for folder, _, names in os.walk(work):
        for name in names:
            os.utime(Path(folder, name), (1_000_000_000, 1_000_000_000))
    return work


def kept(work: Path) -> dict[str, tuple[int, str]]:
    """All that lies in the folders that are to be spared: modes and contents."""
    found = {}
    for folder, _, names in os.walk(work):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            if set(path.relative_to(work).parts) & set(SPARED):
                text = path.read_bytes() if path.is_file() else b""
                found[str(path)] = (path.lstat().st_mode, hashlib.sha256(text).hexdigest())
    return found


@sampled
@each("goal", some(GOALS, 2))
def test_a_repository_stays_as_it_was(goal: str, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    work = Path(shutil.copytree(repository, tmp_path_factory.mktemp("r") / "w"))
    before = kept(work)
    reply = answer(goal_item(goal, cwd=str(work)))
    if isinstance(reply, Command):
        subprocess.run(["bash", "-c", reply.command], cwd=work, check=False, capture_output=True, timeout=60)
    assert kept(work) == before, reply


def test_most_of_these_goals_are_understood() -> None:
    assert sum(isinstance(answer(goal_item(goal, cwd="/home/you/w")), Command) for goal in GOALS) >= 12


@each(
    ("goal", "holds"),
    [
        ("delete all empty folders in node_modules", "find node_modules"),
        ("remove all node_modules folders", "-name node_modules -prune -exec"),
        ("delete all .sample files in .git/hooks", "find .git/hooks"),
    ],
)
def test_what_is_named_is_meant(goal: str, holds: str) -> None:
    command = command_for(goal)
    assert holds in command
    assert "node_modules" not in command.replace(holds, "") or ".git" in holds


@each(
    ("command", "expected"),
    [
        ("find . -type f | wc -l", "find . -type f | wc -l"),
        ("find . -type f -exec cp -t out {} +", "find . -type f -exec cp -t out {} +"),
        ("echo 'find . -delete'", "echo 'find . -delete'"),
        ("chmod 600 a.txt", "chmod 600 a.txt"),
    ],
)
def test_what_changes_nothing_it_finds_stays_as_it_is(command: str, expected: str) -> None:
    assert without_spared_folders(command) == expected


@each(
    ("goal", "found"),
    [
        ("count the files", "3"),
        ("count the files larger than 0 bytes", "3"),
        ("how many folders are here", "3"),
        ("find all JPG files", "./A.JPG\n./b.jpg"),
        ("total size of all jpg files in bytes", "2"),
        ("delete all .JPG files", ""),
    ],
)
def test_what_a_repository_keeps_for_itself_is_not_counted(
    goal: str, found: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = tmp_path_factory.mktemp("w")
    for name in (".git/objects/ab", "sub/.git", "empty"):
        (work / name).mkdir(parents=True)
    for name in ("A.JPG", "b.jpg", "sub/c", ".git/HEAD", ".git/objects/ab/cd", "sub/.git/HEAD"):
        (work / name).write_text("x")
    (work / "more").mkdir()
    command = command_for(goal, str(work))
    ran = subprocess.run(["bash", "-c", command], cwd=work, check=True, capture_output=True, text=True, timeout=60)
    assert "\n".join(sorted(ran.stdout.split())) == found, command
    assert (work / "A.JPG").exists() is not goal.startswith("delete")


def test_only_what_is_there_is_left_out_and_all_where_that_cannot_be_told(tmp_path: Path) -> None:
    delete = "find . -type f -name '*.tmp' -delete"
    assert without_spared_folders(delete, str(tmp_path)) == delete
    (tmp_path / "a/.git").mkdir(parents=True)
    expected = "find . -name .git -prune -o -type f -name '*.tmp' -exec rm -f {} +"
    assert without_spared_folders(delete, str(tmp_path)) == expected
    assert "node_modules" in without_spared_folders(delete.replace(".", "..", 1), str(tmp_path))
    assert "node_modules" in without_spared_folders(delete, str(tmp_path / "gone"))
    for number in range(2_100):
        (tmp_path / f"{number}").touch()
    assert "node_modules" in without_spared_folders(delete, str(tmp_path))
