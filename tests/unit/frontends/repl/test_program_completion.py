"""Sub-commands and branches are offered on Tab, from a real repository and its linked work tree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.frontends.repl.goal_completion import branches, program_words, takes_files
from tests.support.each import each


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    for words in (
        "init -q -b main", "-c user.name=a -c user.email=a@b commit -q --allow-empty -m x", "branch feature/one",
        "branch feature/two", "pack-refs --all", "branch fix", "worktree add -q ../tree fix",
    ):  # fmt: skip
        subprocess.run(["git", *words.split()], cwd=folder, check=True, capture_output=True)
    return folder


def test_branches_loose_and_packed_here_below_and_in_a_linked_tree(repository: Path) -> None:
    (repository / "below").mkdir()
    for folder in (repository, repository / "below", repository.parent / "tree"):
        assert branches(str(folder)) == ["feature/one", "feature/two", "fix", "main"]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git che", ["checkout", "cherry-pick"]),
        ("!git swi", ["switch"]),
        ("docker ex", ["exec", "export"]),
        ("git checkout fea", ["feature/one", "feature/two"]),
        ("git checkout -", []),
        ("git add f", []),
        ("git", []),
        ("find gi", []),
    ],
)
def test_what_continues_a_line(repository: Path, text: str, words: list[str]) -> None:
    assert program_words(text, str(repository)) == words


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere\n", "\0", "gitdir:"])
def test_a_broken_repository_offers_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    assert branches(str(tmp_path)) == []


def test_pipes_in_its_place_make_nobody_wait(repository: Path) -> None:
    (repository / ".git" / "packed-refs").unlink()
    os.mkfifo(repository / ".git" / "packed-refs")
    os.mkfifo(repository / ".git" / "commondir")
    assert branches(str(repository)) == ["fix"]


def test_no_repository(tmp_path: Path) -> None:
    assert branches(str(tmp_path)) == []


@each(
    ("text", "files"),
    [("git sw", False), ("git switch ", False), ("!git merge f", False), ("git checkout f", True), ("cat f", True)],
)
def test_no_file_is_offered_where_only_a_branch_or_a_sub_command_stands(text: str, files: bool) -> None:
    assert takes_files(text) is files
