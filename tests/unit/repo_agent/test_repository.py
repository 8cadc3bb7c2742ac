"""The state of a repository by real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.repo_agent.branches import Base
from agent.repo_agent.repository import Change
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
    assert world.run(repository.base()) == Base("main", "refs/remotes/origin/main", "origin")
    assert world.run(repository.obstacle("main")) == ""


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


def test_states_in_which_nothing_is_committed(world: RepoWorld, tmp_path: Path) -> None:
    world.git("switch", "-q", "--detach")
    assert "detached" in world.run(world.repository().obstacle(""))
    world.git("switch", "-q", "main")
    world.git("switch", "-q", "-c", "side")
    world.commit("side", {"hello.py": "side\n"})
    world.git("switch", "-q", "main")
    world.commit("main", {"hello.py": "main\n"})
    with pytest.raises(AssertionError):
        world.git("merge", "side")
    assert "a merge is in progress" in world.run(world.repository().obstacle("main"))
    empty = tmp_path / "empty"
    empty.mkdir()
    world.git("init", "-q", at=empty)
    repository = world.repository(empty)
    assert world.run(repository.obstacle("main")) == "the repository has no commits yet"
    assert (world.run(repository.head()), world.run(repository.branch())) == ("", "main")
    with pytest.raises(IoError, match="no commits yet"):
        world.run(repository.base())


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


def test_what_is_too_much_to_look_through_is_said(world: RepoWorld) -> None:
    world.write({"hello.py": "x\n" * 60})
    with pytest.raises(IoError, match="more than 100 bytes that have changed, too much to look through"):
        world.run(world.repository().added_lines(["hello.py"], 100))
    world.commit("more", {})
    with pytest.raises(IoError, match="too much to look through"):
        world.run(world.repository().added_by_commits("HEAD", ["HEAD~1"], 100))
    assert "+x" in world.run(world.repository().added_by_commits("HEAD", ["HEAD~1"], 1_000))
