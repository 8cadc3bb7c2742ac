"""Facts of a repository by real git: what they say, and that a hostile repository has nothing run by them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.repo_agent.repository import Base, Change, TaskBranch, switched_off
from tests.support.repo_world import RepoWorld


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


def test_what_is_checked_out(world: RepoWorld) -> None:
    repository = world.repository()
    assert world.run(repository.head()) == world.git("rev-parse", "HEAD")
    assert world.run(repository.branch()) == "main"
    assert world.run(repository.remote()) == "origin"
    assert world.run(repository.address("origin")) == str(world.bare)
    assert world.run(repository.base()) == Base("main", "refs/remotes/origin/main")
    assert world.run(repository.obstacle()) == ""


def test_changes_have_the_names_that_files_have(world: RepoWorld) -> None:
    assert not world.run(world.repository().is_dirty())
    odd = {"a\nb": "1", "ü -> x": "2", ' "q"': "3", "dir/deep": "4", ".gitignore": "*.log\n", "x.log": "5"}
    world.write({**odd, "hello.py": "changed\n"})
    found = world.run(world.repository().changes())
    assert set(found) == {Change(" M", "hello.py"), *(Change("??", name) for name in odd if name != "x.log")}


def test_texts_at_a_revision(world: RepoWorld) -> None:
    world.write({"hello.py": "changed\n"})
    repository = world.repository()
    assert world.run(repository.text_at("HEAD", "hello.py")) == "print('hello')\n"
    assert world.run(repository.text_at("refs/remotes/origin/main", "none")) is None
    assert world.run(repository.text_at("HEAD", "../../etc/passwd")) is None


def test_files_that_the_commits_of_the_work_have_changed(world: RepoWorld) -> None:
    world.git("switch", "-q", "-c", "agent/task-1")
    world.commit("one", {"one.py": "1\n", "gone.py": "x\n", "hello.py": "more\n"})
    (world.checkout / "gone.py").unlink()
    world.write({"two.py": "2\n"})
    base = "refs/remotes/origin/main"
    assert world.run(world.repository().changed_files(base)) == ("gone.py", "hello.py", "one.py")


def test_what_others_did_on_the_base_is_no_change_of_ours(world: RepoWorld) -> None:
    world.git("switch", "-q", "-c", "agent/task-1")
    world.commit("ours", {"ours.py": "1\n"})
    other = world.other()
    world.commit("theirs", {"theirs.py": "1\n"}, at=other)
    world.git("push", "-q", at=other)
    world.git("fetch", "-q")
    assert world.run(world.repository().changed_files("refs/remotes/origin/main")) == ("ours.py",)
    assert world.run(world.repository().ahead_behind("refs/remotes/origin/main")) == (1, 1)
    assert world.run(world.repository().ahead_behind("refs/remotes/origin/none")) is None


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
    assert world.run(world.repository().task_branches()) == (
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


def test_states_in_which_nothing_is_committed(world: RepoWorld, tmp_path: Path) -> None:
    world.git("switch", "-q", "--detach")
    assert "detached" in world.run(world.repository().obstacle())
    world.git("switch", "-q", "main")
    world.git("switch", "-q", "-c", "side")
    world.commit("side", {"hello.py": "side\n"})
    world.git("switch", "-q", "main")
    world.commit("main", {"hello.py": "main\n"})
    with pytest.raises(AssertionError):
        world.git("merge", "side")
    assert "a merge is in progress" in world.run(world.repository().obstacle())
    empty = tmp_path / "empty"
    empty.mkdir()
    world.git("init", "-q", at=empty)
    repository = world.repository(empty)
    assert world.run(repository.obstacle()) == "the repository has no commits yet"
    assert (world.run(repository.head()), world.run(repository.branch())) == ("", "main")
    with pytest.raises(IoError, match="no commits yet"):
        world.run(repository.base())


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


def test_submodules_count_where_their_commit_is_another(world: RepoWorld) -> None:
    part = world.base / "part"
    part.mkdir()
    world.git("init", "-q", at=part)
    world.commit("part", {"p": "1"}, at=part)
    world.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "vendor/part")
    world.git("commit", "-q", "-m", "with a part")
    inside = world.checkout / "vendor/part"
    (inside / "p").write_text("2")
    assert world.run(world.repository().changes()) == ()
    world.commit("new", {"p": "3"}, at=inside)
    assert world.run(world.repository().changes()) == (Change(" M", "vendor/part"),)


def test_a_worktree_has_a_file_for_its_git_folder_and_shares_the_rest(world: RepoWorld) -> None:
    place = world.base / "tree"
    world.git("worktree", "add", "-q", "-b", "agent/task-9", str(place))
    inside = world.repository(place)
    assert (place / ".git").is_file()
    assert world.run(inside.branch()) == "agent/task-9"
    assert world.run(inside.common_folder()) == world.run(world.repository().common_folder())
    assert world.run(world.repository().worktrees()) == {str(world.checkout): "main", str(place): "agent/task-9"}


def test_nothing_of_a_hostile_repository_runs(world: RepoWorld) -> None:
    """Each program that its own settings name for reading, comparing, merging and fetching leaves a mark where it is run."""
    mark = world.base / "ran"
    program = world.base / "evil.sh"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {mark}\ncat\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "gpg.program", "diff.external"):
        world.git("config", name, str(program))
    for name in ("filter.e.clean", "filter.e.smudge", "filter.e.process", "merge.e.driver", "diff.e.textconv"):
        world.git("config", name, str(program))
    world.git("config", "diff.e.command", str(program))
    world.git("config", "filter.a=b.clean", str(program))
    world.git("config", "log.showSignature", "true")
    world.git("config", "filter.e.required", "true")
    (world.checkout / ".gitattributes").write_text("*.py filter=e merge=e diff=e\n*.txt filter=a=b\n")
    hooks = world.checkout / ".git/hooks"
    for name in ("post-index-change", "reference-transaction", "pre-commit", "post-checkout"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    world.git("update-ref", "refs/heads/theirs", "main")
    mark.unlink(missing_ok=True)
    os.utime(world.checkout / "hello.py", (1, 1))
    world.write({"hello.py": "changed\n", "a.txt": "x"})
    repository = world.repository()
    for ask in (
        repository.changes(), repository.changed_files("HEAD"), repository.conflicts("theirs"), repository.base(),
        repository.text_at("HEAD", "hello.py"), repository.task_branches(), repository.feature_commits("HEAD", 1),
        repository.obstacle(), repository.worktrees(), repository.ahead_behind("theirs"),
    ):  # fmt: skip
        world.run(ask)
    assert Change(" M", "hello.py") in world.run(repository.changes())
    assert not mark.exists(), mark.read_text()


def test_a_merge_driver_of_the_repository_leaves_a_conflict_to_be_seen(world: RepoWorld) -> None:
    mark = world.base / "ran"
    world.commit("attributes", {".gitattributes": "*.py merge=e\n", "a.py": "1\n2\n3\n4\n5\n6\n7\n"})
    world.git("switch", "-q", "-c", "theirs")
    world.commit("theirs", {"a.py": "one\n2\n3\n4\n5\n6\n7\n"})
    world.git("switch", "-q", "main")
    world.commit("ours", {"a.py": "1\n2\n3\n4\n5\n6\nseven\n"})
    world.git("config", "merge.e.driver", f"touch {mark}")
    assert world.run(world.repository().conflicts("theirs")) == ("a.py",)
    assert not mark.exists()


def test_settings_of_the_person_stay() -> None:
    assert switched_off(["global", "filter.lfs.clean", "system", "merge.x.driver", ""]) == ()
    assert switched_off(["local", "filter.a=b.clean", "worktree", "merge.x.driver"]) == (
        "GIT_CONFIG_COUNT=2",
        "GIT_CONFIG_KEY_0=filter.a=b.clean",
        "GIT_CONFIG_VALUE_0=",
        "GIT_CONFIG_KEY_1=merge.x.driver",
        "GIT_CONFIG_VALUE_1=false",
    )
