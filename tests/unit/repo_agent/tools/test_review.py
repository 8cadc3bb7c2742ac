"""Features committed and tasks submitted: real git, a real bare remote, real hooks, and the gate between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.protocol.actions import OpenPullRequest
from agent.protocol.decisions import Level
from agent.protocol.events.command import CommandFinished, CommandStarted
from tests.support.repo_world import RepoWorld
from tests.unit.repo_agent.tools.review_support import call, feature, message, submit, write


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


@pytest.mark.covers("S2-10", "S2-18")
def test_each_feature_is_one_commit_with_the_standard_message_and_pushed(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="print('hello!')\n", new__py="1\n")
    result = feature(world, place, message="Because 'people' like it; $(touch /nowhere)\n\n# and `so` on")
    assert not result.is_error, result.content
    assert message(world, "agent/task-10", at=world.bare) == (
        "feat(task 10.1): Say hello\n\nBecause 'people' like it; $(touch /nowhere)\n\n# and `so` on\n\nTask: 10\nFeature: 10.1"
    )
    write(world, place, hello__py="print('goodbye')\n")
    assert not feature(world, place, 2, "Say goodbye").is_error
    subjects = world.git("log", "--format=%s", "main..agent/task-10", at=world.bare).splitlines()
    assert subjects == ["feat(task 10.2): Say goodbye", "feat(task 10.1): Say hello"]
    assert place.progress.features == [1, 2]
    assert world.git("branch", "--list", "review/*") == ""  # no pull request
    assert world.git("status", "--porcelain") == "" and world.git("branch", "--show-current") == "main"


@pytest.mark.covers("S2-11", "S2-23")
def test_a_task_is_submitted_with_its_proof_on_a_review_branch(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="print('hello!')\n")
    feature(world, place)
    write(world, place, TASKS__md=(world.checkout / "TASKS.md").read_text().replace("todo", "review"))
    place.progress.tested(ok=True, passed=12, total=12)
    result = submit(world, place)
    assert result.content == "pull request 10 opened: review/task-10:REVIEW.md"
    assert message(world, "agent/task-10", at=world.bare) == (
        "feat(task 10): Greet people\n\nTask: 10\nSubmitted-for-review: agent/task-10"
    )
    review = world.git("show", "review/task-10:REVIEW.md", at=world.bare)
    commit = world.git("rev-parse", "agent/task-10~1", at=world.bare)
    for line in (
        "# feat(task 10): Greet people",
        "- hello is said",
        "- Tests: green after the last change: 12 of 12 passed",
        f"- Feature 10.1: feat(task 10.1): Say hello ({commit[:12]})",
        "- Files changed: 2\n  - `TASKS.md`\n  - `hello.py`",
    ):
        assert line in review
    assert "REVIEW.md" not in world.git("ls-tree", "--name-only", "agent/task-10", at=world.bare)
    assert (place.progress.submitted, place.progress.url) == (2, "review/task-10:REVIEW.md")
    assert world.run(world.worktrees().submitted()) == {10}


@pytest.mark.thorough
@pytest.mark.covers("S2-11")
def test_nothing_left_to_commit_makes_no_commit_and_the_review_is_opened_all_the_same(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="print('hello!')\n")
    feature(world, place)
    tip = world.git("rev-parse", "agent/task-10", at=world.bare)
    assert not submit(world, place).is_error
    assert world.git("rev-parse", "agent/task-10", at=world.bare) == tip
    assert world.git("rev-parse", "review/task-10~1", at=world.bare) == tip
    assert world.run(world.worktrees().submitted()) == {10}


@pytest.mark.thorough
def test_submitting_again_brings_the_same_review_up_to_date_without_force(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="one\n")
    submit(world, place)
    first = world.git("rev-parse", "review/task-10", at=world.bare)
    assert not submit(world, place).is_error
    assert world.git("rev-parse", "review/task-10", at=world.bare) == first
    write(world, place, hello__py="two\n")
    assert "was open" in submit(world, place).content
    world.git("merge-base", "--is-ancestor", first, "review/task-10", at=world.bare)
    world.git("merge-base", "--is-ancestor", "agent/task-10", "review/task-10", at=world.bare)
    assert world.git("show", "review/task-10:hello.py", at=world.bare) == "two"


@pytest.mark.thorough
@pytest.mark.covers("S2-23")
def test_it_goes_to_the_remote_that_the_work_began_from(world: RepoWorld) -> None:
    fork = world.base / "fork.git"
    world.git("init", "-q", "--bare", str(fork), at=world.base)
    world.git("remote", "add", "fork/ada", str(fork))
    world.git("push", "-q", "-u", "fork/ada", "main")
    place = world.place()
    assert (place.remote, place.base_branch) == ("fork/ada", "main")
    write(world, place, hello__py="x\n")
    assert feature(world, place).content.endswith("pushed to fork/ada")
    assert world.git("branch", "--list", "agent/*", at=fork) and not world.git(
        "branch", "--list", "agent/*", at=world.bare
    )


@pytest.mark.thorough
def test_without_a_remote_nothing_is_pushed(tmp_path: Path) -> None:
    world = RepoWorld(tmp_path, remote=False)
    place = world.place()
    write(world, place, hello__py="x\n")
    assert "no remote" in feature(world, place).content
    assert not submit(world, place).is_error
    assert "Greet people" in world.git("show", "review/task-10:REVIEW.md")
    assert not any("push" in text or "fetch" in text for text in world.asked)


@pytest.mark.thorough
def test_a_hook_that_fails_keeps_the_commit_back_and_its_words_go_to_the_model(world: RepoWorld) -> None:
    hook = world.checkout / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho 'line 3 is too long' >&2\nexit 1\n")
    hook.chmod(0o755)
    place = world.place()
    write(world, place, hello__py="x\n")
    result = feature(world, place)
    assert result.is_error and "line 3 is too long" in result.content
    assert world.git("rev-parse", "agent/task-10") == world.git("rev-parse", "main")
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert not feature(world, place).is_error


@pytest.mark.thorough
def test_a_push_that_a_hook_stops_is_made_good_by_the_same_call(world: RepoWorld) -> None:
    hook = world.checkout / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\necho 'not on fridays' >&2\nexit 1\n")
    hook.chmod(0o755)
    place = world.place()
    write(world, place, hello__py="x\n")
    result = feature(world, place)
    assert result.is_error and "not on fridays" in result.content and place.progress.features == []
    hook.unlink()
    assert not feature(world, place).is_error  # no second commit
    assert world.git("rev-list", "--count", "main..agent/task-10", at=world.bare) == "1"


@pytest.mark.thorough
def test_a_remote_that_has_other_commits_is_explained_and_nothing_is_forced(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    feature(world, place)
    other = world.other()
    world.git("switch", "-q", "agent/task-10", at=other)
    theirs = world.commit("theirs", {"theirs.py": "1\n"}, at=other)
    world.git("push", "-q", at=other)
    write(world, place, hello__py="y\n")
    result = feature(world, place, 2, "Say goodbye")
    assert result.is_error and "origin/agent/task-10 has 1 commit not here" in result.content
    assert world.git("rev-parse", "agent/task-10", at=world.bare) == theirs
    world.git("rebase", "-q", "origin/agent/task-10", at=Path(place.root))
    assert not feature(world, place, 2, "Say goodbye").is_error
    assert world.git("log", "--format=%s", "-2", "agent/task-10", at=world.bare).splitlines() == [
        "feat(task 10.2): Say goodbye",
        "theirs",
    ]


@pytest.mark.thorough
def test_a_conflict_with_what_the_base_has_become_is_found_before_anything_is_published(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="ours\n")
    other = world.other()
    world.commit("theirs", {"hello.py": "theirs\n"}, at=other)
    world.git("push", "-q", at=other)
    result = submit(world, place)
    assert result.is_error and "merging with origin/main would conflict in hello.py" in result.content
    assert world.git("branch", "--list", "agent/*", "review/*", at=world.bare) == ""
    assert world.run(world.worktrees().submitted()) == frozenset() and place.progress.submitted == 0


@pytest.mark.thorough
def test_there_has_to_be_something_to_commit_and_to_submit(world: RepoWorld) -> None:
    place = world.place()
    assert "nothing to commit for feature 10.1" in feature(world, place).content
    assert "nothing to submit" in submit(world, place).content


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("state", "said"),
    [
        (("switch", "-q", "--detach"), "detached HEAD"),
        (("switch", "-q", "-c", "other"), "other is checked out and not agent/task-10"),
    ],
)
def test_only_the_branch_of_the_task_is_committed_to(world: RepoWorld, state: tuple[str, ...], said: str) -> None:
    place = world.place()
    world.git(*state, at=Path(place.root))
    write(world, place, hello__py="x\n")
    assert said in feature(world, place).content
    assert said in submit(world, place).content
    assert "only for another" not in world.asked


@pytest.mark.covers("S2-23")
def test_a_protected_branch_is_never_committed_to(world: RepoWorld) -> None:
    place = world.place()
    place.repository, place.branch = world.repository(), "main"
    write(world, place, hello__py="x\n")
    assert "main is protected" in feature(world, place).content
    assert "main is protected" in submit(world, place).content


def test_the_task_of_the_cycle_only(world: RepoWorld) -> None:
    place = world.place()
    result = call(world, place, "finish_feature", task_id=11, feature_id=1, title="x")
    assert "this cycle is for task 10" in result.content


def test_a_repository_in_the_repository_is_not_committed(world: RepoWorld) -> None:
    place = world.place()
    world.git("clone", "-q", str(world.bare), str(Path(place.root) / "lib/copy"), at=world.base)
    result = feature(world, place)
    assert result.is_error and "lib/copy/ is a repository of its own" in result.content


@pytest.mark.thorough
def test_a_remote_that_is_gone_is_said_in_the_words_of_git(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.bare.rename(world.base / "gone.git")
    assert "does not appear to be a git repository" in feature(world, place).content


@pytest.mark.thorough
def test_who_vouches_for_commits_by_a_line_signs_off(world: RepoWorld) -> None:
    place = world.place()
    place.sign_off = True
    write(world, place, hello__py="x\n")
    feature(world, place)
    assert message(world, "agent/task-10").endswith("Feature: 10.1\nSigned-off-by: Ada <ada@example.com>")
    assert world.run(world.repository(Path(place.root)).feature_commits(place.base, 10))[0].feature == "10.1"


def test_title_and_text_of_a_model_stay_text(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    title = "one\ntwo\x1b[31m '; touch evil; '" + "x" * 300
    feature(world, place, title=title)
    subject = message(world, "agent/task-10").splitlines()[0]
    assert subject.startswith("feat(task 10.1): one two[31m '; touch evil; 'xxx") and len(subject) < 130
    assert not (Path(place.root) / "evil").exists()


@pytest.mark.thorough
def test_all_of_it_is_in_the_log(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    submit(world, place)
    started: list[Any] = world.recorder.only(CommandStarted)
    assert [each.command.split()[1] if each.command.startswith("git") else each.command for each in started] == [
        "worktree", "fetch", "add", "push", "open_pull_request local agent/task-10 main", "push",
    ]  # fmt: skip
    finished: list[Any] = world.recorder.only(CommandFinished)
    assert finished[-2].result.stdout.head == "review/task-10:REVIEW.md\n"
    opened = next(each for each in world.person.asked if each.kind == "write")
    assert opened.report.level is Level.MEDIUM and opened.report.content


def test_a_pull_request_is_told_by_its_places() -> None:
    action = OpenPullRequest(root="/r", where="github.com/a/b", branch="agent/task-1", base="main", title="t", body="b")
    assert action.words == ("open_pull_request", "github.com/a/b", "agent/task-1", "main")
