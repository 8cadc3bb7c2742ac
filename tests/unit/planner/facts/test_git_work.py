"""Uncommitted work, held against what git itself says; a hostile repository gets nothing run and breaks nothing."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.facts.git_work import NONE, Work, git_folder, stashes, uncommitted
from tests.support.needs import needing
from tests.support.tries import tries

pytestmark = needing("git")


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout


@pytest.fixture(params=["2", "4", "sha256"])
def repo(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", *(["--object-format=sha256"] if request.param == "sha256" else []))
    git(folder, "config", "index.version", "4" if request.param == "4" else "2")
    for number in range(30):
        path = folder / f"d{number % 3}" / f"file-{'x' * number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n")
    (folder / "link").symlink_to("d0")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def changed_says_git(folder: Path) -> int:
    lines = git(folder, "status", "--porcelain", "--untracked-files=no").splitlines()
    return sum(line[1] == "M" for line in lines)


@pytest.mark.few(1)
def test_as_git_sees_it(repo: Path) -> None:
    assert uncommitted(str(repo)) == NONE
    chance = random.Random(7)
    files = sorted(path for path in repo.rglob("*.txt"))
    for path in chance.sample(files, 8):
        path.write_text("other\n")
    os.utime(files[0], (1, 1))  # another time, the same content
    files[1].unlink()
    (repo / "untracked").write_text("x")
    work = uncommitted(str(repo))
    assert work.changed == changed_says_git(repo) > 0
    assert not work.staged
    below = sum("d1/" in line and line[1] == "M" for line in git(repo, "status", "--porcelain").splitlines())
    assert uncommitted(str(repo), "d1").changed == below
    assert uncommitted(str(repo), "d").changed == 0


def test_a_change_of_the_same_size_and_time_as_the_index_is_seen(repo: Path) -> None:
    path = repo / "d0" / "file-.txt"
    path.write_text("9\n")
    index = repo / ".git" / "index"
    index.write_bytes(index.read_bytes())
    assert uncommitted(str(repo)).changed == 1


@pytest.mark.few(1)
def test_staged(repo: Path) -> None:
    (repo / "new").write_text("x")
    git(repo, "add", "new")
    assert uncommitted(str(repo)) == Work(0, staged=True)
    git(repo, "commit", "-q", "-m", "second")
    assert uncommitted(str(repo)) == NONE
    git(repo, "switch", "-q", "-c", "other")
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    assert uncommitted(str(repo)) == NONE


@pytest.mark.few(1)
def test_a_link_that_changed(repo: Path) -> None:
    (repo / "link").unlink()
    (repo / "link").symlink_to("d1")
    assert uncommitted(str(repo)).changed == 1


@pytest.mark.few(1)
def test_stashes(repo: Path) -> None:
    assert stashes(str(repo)) == 0
    for text in ("a", "b"):
        (repo / "d0" / "file-.txt").write_text(text)
        git(repo, "stash")
    assert stashes(str(repo)) == 2


@pytest.mark.few(1)
def test_worktrees(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = tmp_path / "tree"
    assert git_folder(str(tree)).endswith("worktrees/tree")
    (tree / "d0" / "file-.txt").write_text("changed")
    assert uncommitted(str(tree)).changed == 1
    assert uncommitted(str(repo)).changed == 0


@pytest.mark.few(1)
def test_stopping_early_is_said(repo: Path) -> None:
    for number in range(100):
        (repo / f"n{number}").write_text("x")
    git(repo, "add", ".")
    assert not uncommitted(str(repo), spent=lambda: True).complete


@pytest.mark.few(1)
def test_nothing_configured_is_run(repo: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    script.chmod(0o755)
    git(repo, "config", "filter.x.clean", str(script))
    git(repo, "config", "core.fsmonitor", str(script))
    (repo / ".gitattributes").write_text("*.txt filter=x\n")
    (repo / "d0" / "file-.txt").write_text("9\n")
    assert uncommitted(str(repo)).changed == 1
    assert not marker.exists()


def test_what_is_no_repository_says_nothing(tmp_path: Path) -> None:
    assert uncommitted(str(tmp_path)) == NONE
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "index")
    assert uncommitted(str(tmp_path)) == NONE
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text("gitdir: \0nowhere\n")
    assert uncommitted(str(other)) == NONE


@settings(max_examples=tries(150), deadline=None)
@given(st.integers(0, 2_000), st.binary(max_size=8), st.integers(2, 4))
def test_broken_indexes_break_nothing(
    tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes, version: int
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    (folder / ".git").mkdir()
    entry = bytes(40) + bytes(20) + b"\0\4name\0\0"
    data = bytearray(
        b"DIRC" + version.to_bytes(4, "big") + (30).to_bytes(4, "big") + entry * 30 + b"TREE\0\0\0\x10\0-1 0\n"
    )
    data[at : at + len(junk)] = junk
    (folder / ".git" / "index").write_bytes(bytes(data))
    assert uncommitted(str(folder)).changed == 0
