"""A review beside the repository: what is on its branch, and what is left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.protocol.actions import OpenPullRequest, PullRequest
from agent.protocol.errors import IoError
from agent.repo_agent.local_reviews import LocalReviews
from tests.support.repo_world import RepoWorld


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    world = RepoWorld(tmp_path)
    world.git("switch", "-q", "-c", "agent/task-10")
    world.commit("work", {"hello.py": "one\n"})
    return world


def opened(world: RepoWorld, branch: str = "agent/task-10", body: str = "All of it.\n") -> PullRequest:
    action = OpenPullRequest(
        root=str(world.checkout), where="local", branch=branch, base="main", title="feat(task 10): Grüße", body=body
    )
    return asyncio.run(LocalReviews(world.processes).open(action))


def test_it_is_the_branch_with_the_text_on_top(world: RepoWorld) -> None:
    before = world.git("status", "--porcelain", "--branch")
    assert opened(world) == PullRequest(url="review/task-10:REVIEW.md", number=10, created=True, push="review/task-10")
    assert world.git("rev-parse", "review/task-10~1") == world.git("rev-parse", "agent/task-10")
    assert world.git("diff", "--name-only", "agent/task-10", "review/task-10") == "REVIEW.md"
    text = world.git("show", "review/task-10:REVIEW.md")
    assert text.startswith("# feat(task 10): Grüße\n\nFor review: `agent/task-10`, to be merged into `main`.")
    assert text.endswith("\n\nAll of it.")
    assert world.git("status", "--porcelain", "--branch") == before
    assert not (world.checkout / "REVIEW.md").exists()


def test_the_same_again_makes_nothing_and_another_text_or_work_goes_on_top(world: RepoWorld) -> None:
    opened(world)
    first = world.git("rev-parse", "review/task-10")
    assert not opened(world).created
    assert world.git("rev-parse", "review/task-10") == first
    opened(world, body="More.\n")
    second = world.git("rev-parse", "review/task-10")
    assert world.git("rev-parse", "review/task-10^@").splitlines() == [first]
    tip = world.commit("more", {"hello.py": "two\n"})
    opened(world, body="More.\n")
    assert world.git("rev-parse", "review/task-10^@").splitlines() == [second, tip]
    assert world.git("show", "review/task-10:hello.py") == "two"


@pytest.mark.thorough
def test_what_only_a_remote_has_of_it_is_gone_on_with(world: RepoWorld) -> None:
    opened(world)
    world.git("push", "-q", "origin", "review/task-10")
    world.git("branch", "-D", "review/task-10")
    assert not opened(world, body="More.\n").created
    world.git("push", "-q", "origin", "review/task-10")  # not forced


def test_hooks_filters_and_the_index_of_the_person_are_left_alone(world: RepoWorld) -> None:
    mark = world.base / "ran"
    for name in ("reference-transaction", "pre-commit", "commit-msg", "post-commit", "post-index-change"):
        hook = world.checkout / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\necho $0 >> {mark}\nexit 1\n")
        hook.chmod(0o755)
    world.git("config", "filter.e.clean", f"touch {mark}; cat")
    world.git("config", "commit.gpgSign", "true")
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/attributes").write_text("*.md filter=e\n")
    world.write({"staged.py": "1\n"})
    index = (world.checkout / ".git/index").read_bytes()
    opened(world)
    assert not mark.exists()
    assert (world.checkout / ".git/index").read_bytes() == index


@pytest.mark.thorough
def test_a_review_that_somebody_looks_at_does_not_move_beneath_them(world: RepoWorld) -> None:
    opened(world)
    world.git("switch", "-q", "review/task-10")
    assert not opened(world).created  # nothing new: nothing moves
    with pytest.raises(IoError, match="review/task-10 is checked out in"):
        opened(world, body="More.\n")
    assert world.git("status", "--porcelain") == ""


def test_only_a_branch_of_a_task_has_one(world: RepoWorld) -> None:
    for branch in ("main", "agent/task-0", "agent/task-10/../x"):
        with pytest.raises(IoError, match="no task"):
            opened(world, branch)
    with pytest.raises(IoError, match="no review branch"):
        opened(world, "agent/task-11")


def test_a_review_of_the_repository_itself_is_replaced_on_that_branch_only(world: RepoWorld) -> None:
    world.commit("theirs", {"REVIEW.md": "ours\n"})
    opened(world)
    assert world.git("show", "agent/task-10:REVIEW.md") == "ours"
    assert "All of it." in world.git("show", "review/task-10:REVIEW.md")
