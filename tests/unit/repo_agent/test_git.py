"""Git is asked so that nothing which a hostile repository names is run, and what the person set up stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.repo_agent.git import switched_off, was_left_at
from agent.repo_agent.repository import Change
from tests.support.each import each
from tests.support.repo_world import RepoWorld


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


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
    hooks.mkdir(exist_ok=True)
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
        repository.text_at("HEAD", "hello.py"), repository.task_branches(""), repository.feature_commits("HEAD", 1),
        repository.obstacle("main"), repository.worktrees(), repository.ahead_behind("theirs"),
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


OLD, NEW = "1a2b3c4d" + "0" * 32, "5e6f7a8b" + "0" * 32
TO = "To /srv/shop.git\n"


@each(
    ("left", "said", "there"),
    [
        ("", f"{TO} * [new branch]      agent/task-1 -> agent/task-1\n", True),
        (OLD, f"{TO} * [neuer Branch]    agent/task-1 -> agent/task-1\n", True),
        (OLD, f"hook: looked\n{TO}   1a2b3c4..5e6f7a8  agent/task-1 -> agent/task-1\n", True),
        (OLD, f"{TO}   9999999..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        ("", f"{TO}   1a2b3c4..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        (OLD, f"   1a2b3c4..5e6f7a8  said by a hook\n{TO}   9999999..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        (NEW, "Everything up-to-date\n", True),
        (OLD, "Everything up-to-date\n", False),
        ("", "", False),
    ],
)
def test_a_push_says_where_the_branch_was(left: str, said: str, there: bool) -> None:
    assert was_left_at(left, NEW, said) is there
