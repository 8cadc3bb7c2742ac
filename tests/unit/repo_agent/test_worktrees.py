"""A worktree for each task: begun from the newest state, gone on with, and never lost."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.protocol.requests import Approval
from agent.repo_agent.repository import Change
from tests.support.repo_world import RepoWorld


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


def fetch(world: RepoWorld) -> None:
    asyncio.run(world.worktrees().fetch(world.doors()))


@pytest.mark.covers("S2-15")
def test_it_begins_from_what_was_just_fetched_and_leaves_the_checkout_alone(world: RepoWorld) -> None:
    world.write({"hello.py": "not committed\n", "notes": "mine"})
    other = world.other()
    newest = world.commit("newest", {"new.py": "1\n"}, at=other)
    world.git("push", "-q", at=other)
    fetch(world)
    found = world.prepared()
    assert world.git("rev-parse", "HEAD", at=Path(found.root)) == newest
    assert (found.branch, found.base_branch, found.remote, found.resumed) == (
        "agent/task-10",
        "main",
        "origin",
        False,
    )
    assert found.address == str(world.bare)
    assert (world.checkout / "hello.py").read_text() == "not committed\n"
    assert world.git("branch", "--show-current") == "main"


def test_a_task_is_claimed_by_one_at_a_time(world: RepoWorld) -> None:
    first, second = (world.run(world.worktrees().marks(task)) for task in (10, 11))
    claim = first.claim()
    assert claim is not None
    assert first.claim() is None
    other = second.claim()
    assert other is not None
    claim.close()
    again = first.claim()
    assert again is not None
    for each in (other, again):
        each.close()


def test_it_lies_below_the_state_folder_for_the_person_alone(world: RepoWorld) -> None:
    root = Path(world.prepared().root)
    assert root.is_relative_to(f"{world.state}-worktrees") and root.name == "task-10"
    for folder in (root.parent, root.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    second = RepoWorld.__new__(RepoWorld)
    second.__dict__.update(world.__dict__)
    second.checkout = world.other()
    assert Path(second.prepared().root).parent != root.parent  # another repository of that name


@pytest.mark.thorough
@pytest.mark.covers("S2-15")
def test_one_that_is_there_is_gone_on_with_and_nothing_in_it_is_lost(world: RepoWorld) -> None:
    first = world.prepared()
    world.commit("begun", {"begun.py": "1\n"}, at=Path(first.root))
    world.write({"left.py": "2\n"}, at=Path(first.root))
    asked = len(world.asked)
    again = world.prepared()
    assert (again.root, again.resumed, again.left) == (first.root, True, (Change("??", "left.py"),))
    assert len(world.asked) == asked
    assert (Path(first.root) / "left.py").read_text() == "2\n"


@pytest.mark.thorough
def test_a_folder_that_somebody_removed_is_made_again_with_what_was_committed(world: RepoWorld) -> None:
    first = world.prepared()
    world.commit("begun", {"begun.py": "1\n"}, at=Path(first.root))
    shutil.rmtree(first.root)
    again = world.prepared()
    assert (again.root, again.resumed) == (first.root, False)
    assert (Path(again.root) / "begun.py").exists()


@pytest.mark.thorough
def test_a_branch_that_only_the_remote_has_is_gone_on_with(world: RepoWorld) -> None:
    other = world.other()
    world.git("switch", "-q", "-c", "agent/task-10", at=other)
    world.commit("begun elsewhere", {"begun.py": "1\n"}, at=other)
    world.git("push", "-q", "-u", "origin", "agent/task-10", at=other)
    fetch(world)
    assert (Path(world.prepared().root) / "begun.py").exists()


@pytest.mark.thorough
def test_what_is_in_the_way_is_said_and_left_alone(world: RepoWorld) -> None:
    folder = Path(asyncio.run(world.worktrees().folder(10)))
    folder.mkdir()
    (folder / "mine").write_text("x")
    with pytest.raises(IoError, match="is in the way"):
        world.prepared()
    assert (folder / "mine").read_text() == "x"
    (folder / "mine").unlink()
    world.git("init", "-q", at=folder)
    with pytest.raises(IoError, match="no worktree of"):
        world.prepared()
    shutil.rmtree(folder)
    folder.symlink_to(world.checkout)
    with pytest.raises(IoError):
        world.prepared()
    assert world.git("branch", "--show-current") == "main"


def test_a_branch_that_the_person_has_checked_out_is_not_taken_from_them(world: RepoWorld) -> None:
    world.git("switch", "-q", "-c", "agent/task-10")
    with pytest.raises(IoError, match="is checked out in"):
        world.prepared()


@pytest.mark.thorough
def test_one_that_somebody_left_on_another_branch_or_in_a_merge_is_not_gone_on_with(world: RepoWorld) -> None:
    root = Path(world.prepared().root)
    world.git("switch", "-q", "--detach", at=root)
    with pytest.raises(IoError, match="detached HEAD"):
        world.prepared()
    world.git("switch", "-q", "-c", "elsewhere", at=root)
    with pytest.raises(IoError, match="elsewhere is checked out there"):
        world.prepared()


@pytest.mark.thorough
@pytest.mark.covers("S2-15")
def test_it_is_removed_only_when_all_of_it_is_committed_and_pushed(world: RepoWorld) -> None:
    root = Path(world.prepared().root)

    def remove() -> None:
        asyncio.run(world.worktrees().remove(10, world.doors()))

    world.write({"new.py": "1\n"}, at=root)
    with pytest.raises(IoError, match="in no commit"):
        remove()
    world.commit("work", {}, at=root)
    with pytest.raises(IoError, match="not pushed"):
        remove()
    world.git("push", "-q", "origin", "agent/task-10", at=root)
    remove()
    assert not root.exists() and world.git("branch", "--list", "agent/task-10")


def test_those_of_tasks_that_are_done_are_removed_unless_something_would_be_lost(world: RepoWorld) -> None:
    merged, dirty, other = (Path(world.prepared(task).root) for task in (10, 11, 12))
    world.commit("work", {"new.py": "1\n"}, at=merged)
    world.git("merge", "-q", "--no-ff", "-m", "merged", "agent/task-10")
    world.git("push", "-q")  # and the branch of the task is gone at the remote
    world.write({"left.py": "1\n"}, at=dirty)
    asyncio.run(world.worktrees().tidy([10, 11, 99], world.doors()))
    assert (merged.exists(), dirty.exists(), other.exists()) == (False, True, True)


def test_without_a_remote_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    world = RepoWorld(tmp_path, remote=False)
    fetch(world)
    assert world.asked == [] and world.prepared().remote == ""


def test_a_remote_that_does_not_answer_is_said(world: RepoWorld) -> None:
    os.rename(world.bare, world.base / "gone.git")
    with pytest.raises(IoError, match="origin could not be fetched: exit code 128"):
        fetch(world)


def test_before_the_first_commit_there_is_nothing_to_begin_from(world: RepoWorld) -> None:
    empty = world.base / "empty"
    empty.mkdir()
    world.git("init", "-q", at=empty)
    world.checkout = empty
    with pytest.raises(IoError, match="no commits yet"):
        world.prepared()


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_INDEX_FILE"])
def test_a_variable_that_sends_git_elsewhere_is_said(
    world: RepoWorld, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, str(world.base / "other"))
    with pytest.raises(IoError, match=f"{name} is set"):
        world.prepared()
    assert world.asked == []


@pytest.mark.thorough
def test_where_nobody_has_to_be_asked_it_is_made_unasked(world: RepoWorld) -> None:
    """It fills a folder, as a clone does: medium."""
    world.approval = Approval(mode="medium", interactive=False)
    fetch(world)
    assert (Path(world.prepared().root) / "hello.py").exists()
    assert world.asked == []


@pytest.mark.thorough
def test_a_task_waits_for_its_review_until_something_is_done_on_its_branch(world: RepoWorld) -> None:
    worktrees = world.worktrees()
    root = world.prepared().root
    assert asyncio.run(worktrees.submitted()) == frozenset()
    tip = world.commit("feat\n\nSubmitted-for-review: agent/task-10", {"x.py": "1\n"}, at=Path(root))
    assert asyncio.run(worktrees.submitted()) == frozenset()  # the push, or what comes after it, may have failed
    world.prepared().marks.submitted(tip)
    assert asyncio.run(worktrees.submitted()) == {10}
    world.commit("after the review", {"x.py": "2\n"}, at=Path(root))
    assert asyncio.run(worktrees.submitted()) == frozenset()


@pytest.mark.thorough
def test_what_was_submitted_from_elsewhere_is_known_by_the_commit(world: RepoWorld) -> None:
    other = world.other()
    for number, text in ((10, "feat\n\nSubmitted-for-review: agent/task-10"), (11, "feat: begun")):
        world.git("switch", "-q", "-c", f"agent/task-{number}", "main", at=other)
        world.commit(text, {"x.py": f"{number}\n"}, at=other)
        world.git("push", "-q", "origin", f"agent/task-{number}", at=other)
    fetch(world)
    assert asyncio.run(world.worktrees().submitted()) == {10}
