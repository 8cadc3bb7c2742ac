"""Branches by real git: which one is the base, whose they are, and how they stand to each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.repo_agent.branches import Base, TaskBranch
from tests.support.repo_world import RepoWorld


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


@pytest.mark.covers("S2-23")
def test_without_a_remote_the_branch_that_is_checked_out_is_the_base(tmp_path: Path) -> None:
    world = RepoWorld(tmp_path, remote=False)
    assert world.run(world.repository().remote()) == ""
    assert world.run(world.repository().base()) == Base("main", "refs/heads/main")


def test_without_a_head_of_the_remote_its_usual_branch_is(world: RepoWorld) -> None:
    world.git("remote", "set-head", "origin", "-d")
    assert world.run(world.repository().base()).branch == "main"


def test_a_remote_whose_default_branch_is_unknown_is_said(world: RepoWorld) -> None:
    world.git("remote", "set-head", "origin", "-d")
    world.git("update-ref", "-d", "refs/remotes/origin/main")
    with pytest.raises(IoError, match="default branch of origin"):
        world.run(world.repository().base())


def test_the_remote_of_the_branch_goes_before_others(world: RepoWorld) -> None:
    world.git("remote", "add", "fork", "elsewhere")
    assert world.run(world.repository().remote()) == "origin"
    world.git("config", "branch.main.remote", "fork")
    assert world.run(world.repository().remote()) == "fork"
    world.git("config", "branch.main.remote", "--upload-pack=x")
    assert world.run(world.repository().remote()) == "origin"


def test_branches_of_tasks_and_which_were_submitted(world: RepoWorld) -> None:
    world.git("switch", "-q", "-c", "agent/task-3")
    tip = world.commit("feat(task 3): x\n\nTask: 3\nSubmitted-for-review: agent/task-3", {"x": "1"})
    world.git("push", "-q", "origin", "agent/task-3")
    world.git("switch", "-q", "-c", "agent/task-4")
    other = world.commit("y\n\nSubmitted-for-review: agent/task-3", {"y": "1"})
    world.git("branch", "agent/notes")
    assert world.run(world.repository().task_branches("origin")) == (
        TaskBranch(3, "agent/task-3", remote=False, tip=tip, submitted=True),
        TaskBranch(4, "agent/task-4", remote=False, tip=other, submitted=False),
        TaskBranch(3, "agent/task-3", remote=True, tip=tip, submitted=True),
    )


@pytest.mark.covers("S2-23")
@pytest.mark.parametrize("branch", ["main", "master", "release/1.2", "production", "", "live"])
def test_protected_branches(world: RepoWorld, branch: str) -> None:
    world.git("update-ref", "refs/remotes/origin/live", "HEAD")
    world.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/live")
    assert world.run(world.repository().is_protected(branch))
    assert not world.run(world.repository().is_protected("agent/task-1"))


def test_conflicts_are_found_and_nothing_is_merged(world: RepoWorld) -> None:
    world.git("switch", "-q", "-c", "agent/task-1")
    world.commit("ours", {"hello.py": "ours\n"})
    head = world.git("rev-parse", "HEAD")
    world.git("branch", "-f", "theirs", "main")
    world.git("switch", "-q", "theirs")
    world.commit("theirs", {"hello.py": "theirs\n", "other.py": "x"})
    world.git("switch", "-q", "agent/task-1")
    assert world.run(world.repository().conflicts("theirs")) == ("hello.py",)
    assert world.run(world.repository().conflicts("main")) == ()
    assert world.git("rev-parse", "HEAD") == head and world.git("status", "--porcelain") == ""


def test_a_worktree_has_a_file_for_its_git_folder_and_shares_the_rest(world: RepoWorld) -> None:
    place = world.base / "tree"
    world.git("worktree", "add", "-q", "-b", "agent/task-9", str(place))
    inside = world.repository(place)
    assert (place / ".git").is_file()
    assert world.run(inside.branch()) == "agent/task-9"
    assert world.run(inside.common_folder()) == world.run(world.repository().common_folder())
    assert world.run(world.repository().worktrees()) == {str(world.checkout): "main", str(place): "agent/task-9"}
