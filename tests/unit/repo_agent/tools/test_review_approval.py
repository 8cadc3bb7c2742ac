"""What leaves the machine is agreed to or granted; what a command changed of how git publishes keeps it here."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.policy.model import Rule
from agent.protocol.confirmations import Approved, Skipped
from agent.protocol.requests import Approval
from agent.repo_agent.tools.testing import COMMANDS
from tests.support.fakes import FakePerson
from tests.support.repo_world import RepoWorld
from tests.unit.repo_agent.tools.review_support import GRANTED, feature, submit, write


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


def test_every_push_and_pull_request_is_asked_for_and_says_what_it_is(world: RepoWorld) -> None:
    world.approval = Approval(mode="medium")
    place = world.place()
    write(world, place, hello__py="x\n")
    submit(world, place)
    pushes = [each for each in world.person.asked if each.proposal.command.startswith("git push")]
    (opened,) = [each for each in world.person.asked if each.kind == "write"]
    assert [each.proposal.command.rpartition("/heads/")[2] for each in pushes] == ["agent/task-10", "review/task-10"]
    assert {each.verdict.rule for each in (*pushes, opened)} == {"grant"}
    assert opened.preview.startswith("feat(task 10): Greet people\n\nTask 10: Greet people\n")
    assert "others see it when it is pushed" in opened.note
    assert (
        opened.verdict.reason
        == "what is published is asked for in every mode; --grant pull-request spares a run this question"
    )
    assert len(world.person.asked) == 3  # the rest runs by the approve mode


@pytest.mark.covers("S2-10", "S2-11")
def test_a_run_that_was_granted_it_publishes_with_nobody_there(world: RepoWorld) -> None:
    world.approval = GRANTED
    place = world.place()
    write(world, place, hello__py="x\n")
    assert not feature(world, place).is_error
    result = submit(world, place)
    assert not result.is_error, result.content
    assert world.asked == []
    assert "x" in world.git("show", "review/task-10:hello.py", at=world.bare)


@pytest.mark.thorough
@pytest.mark.parametrize("grants", [None, (), ("pull-request",)])
def test_without_the_grant_and_without_anybody_nothing_is_pushed(world: RepoWorld, grants: Any) -> None:
    world.approval = Approval(mode="medium", interactive=False, grants=grants)
    place = world.place()
    write(world, place, hello__py="x\n")
    result = feature(world, place)
    assert result.is_error and "not pushed" in result.content
    assert world.git("branch", "--list", "agent/*", at=world.bare) == ""
    assert place.progress.features == []


def test_a_rule_that_forbids_pushes_is_stronger_than_a_grant(world: RepoWorld) -> None:
    world.approval = GRANTED
    world.rules = (Rule(name="no", action="deny", program=("git",), words=(("push",),)),)
    place = world.place()
    write(world, place, hello__py="x\n")
    assert "[policy.toml:no]" in feature(world, place).content


def test_a_person_who_says_no_is_told_to_the_model(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.person = FakePerson(Skipped())
    result = feature(world, place)
    assert result.is_error and "nothing was committed: it did not run (skipped)" in result.content


@pytest.mark.thorough
def test_a_push_that_nobody_agreed_to_is_not_looked_into(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.person = FakePerson(Approved(command="git add -A && git commit -m x"), Skipped())
    assert "agent/task-10 was not pushed: it did not run (skipped)" in feature(world, place).content
    assert world.asked[-1].startswith("git push")


@pytest.mark.thorough
def test_a_push_goes_where_it_went_when_the_cycle_began(world: RepoWorld) -> None:
    world.approval = GRANTED
    place = world.place()
    elsewhere = world.base / "elsewhere.git"
    world.git("init", "-q", "--bare", str(elsewhere), at=world.base)
    world.git("remote", "set-url", "--push", "origin", str(elsewhere))
    write(world, place, hello__py="x\n")
    place.settings = None  # as with variables of the shell that say so
    assert "pushes would go elsewhere" in feature(world, place).content
    assert world.git("branch", at=elsewhere) == ""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command",
    [
        "git send-pack {bare} HEAD:refs/heads/evil",
        "git -C {bare} fetch $PWD HEAD:refs/heads/evil",
        "w=$PWD; cd {bare} && git fetch $w HEAD:refs/heads/evil",
        "git -c alias.zz=push zz origin HEAD:refs/heads/evil",
        "git zz origin HEAD:refs/heads/evil",
        "git push-evil origin",
        "git subtree push --prefix=lib origin evil",
        "git config core.fsmonitor ./evil",
        "git config --global alias.zz push",
        "git remote set-url origin /evil",
    ],
)
@pytest.mark.parametrize("grants", [(), ("push", "pull-request")])
def test_a_command_that_publishes_or_sets_git_up_does_not_run_unasked(
    world: RepoWorld, grants: Any, command: str
) -> None:
    place = world.place()
    world.write({"lib/x.py": "1\n"}, at=Path(place.root))
    world.git("add", "-A", at=Path(place.root))
    world.git("commit", "-q", "-m", "lib", at=Path(place.root))
    world.git("config", "alias.zz", "push")
    world.git("config", "alias.push-evil", "push origin HEAD:refs/heads/evil")
    before = world.git("config", "--list"), world.git("for-each-ref", at=world.bare)
    world.approval = Approval(mode="medium", interactive=False, grants=grants)
    run = COMMANDS[0]
    result = asyncio.run(
        run.run(run.read({"command": command.format(bare=world.bare)}), place, world.doors(Path(place.root)))
    )
    assert result.is_error
    assert (world.git("config", "--list"), world.git("for-each-ref", at=world.bare)) == before


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--add", "remote.origin.url", "{evil}"), "remote.origin.url"),
        (("--add", "remote.origin.pushurl", "{evil}"), "remote.origin.pushurl"),
        (("url.{evil}.pushInsteadOf", "{bare}"), "url.{evil}.pushinsteadof"),
        (("--global", "url.{evil}.insteadOf", "{bare}"), "url.{evil}.insteadof"),
        (("remote.origin.receivepack", "touch {mark}; git-receive-pack"), "remote.origin.receivepack"),
        (("remote.origin.uploadpack", "touch {mark}; git-upload-pack"), "remote.origin.uploadpack"),
        (("core.sshCommand", "touch {mark}"), "core.sshcommand"),
        (("core.hooksPath", "{hooks}"), "core.hookspath"),
        (("core.fsmonitor", "touch {mark}"), "core.fsmonitor"),
        (("--global", "filter.x.clean", "touch {mark}; cat"), "filter.x.clean"),
        (("include.path", "{include}"), "core.hookspath, include.path"),
    ],
)
def test_settings_that_have_changed_keep_everything_from_being_published(
    world: RepoWorld, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    world.approval = GRANTED
    evil, mark, hooks = world.base / "evil.git", world.base / "mark", world.base / "hooks"
    world.git("init", "-q", "--bare", str(evil), at=world.base)
    for hook in ("pre-commit", "pre-push"):
        world.write({hook: f"#!/bin/sh\ntouch {mark}\n"}, at=hooks)
        (hooks / hook).chmod(0o755)
    world.write({"include": f"[core]\nhooksPath = {hooks}\n"}, at=world.base)
    where = {"evil": evil, "bare": world.bare, "mark": mark, "hooks": hooks, "include": world.base / "include"}
    place = world.place()
    write(world, place, hello__py="x\n", __gitattributes="* filter=x\n")
    tip = world.git("rev-parse", "agent/task-10")
    world.git("config", *(each.format(**where) for each in words), at=Path(place.root))
    for result in (feature(world, place), submit(world, place)):
        assert result.is_error and f"when the cycle began: {name.format(**where)}. Put them back" in result.content
    assert not mark.exists() and world.git("rev-parse", "agent/task-10") == tip
    for bare in (world.bare, evil):
        assert world.git("for-each-ref", "--format=%(refname)", "refs/heads/agent", at=bare) == ""


@pytest.mark.thorough
def test_settings_are_looked_at_again_before_the_push(world: RepoWorld) -> None:
    hook = world.checkout / ".git/hooks/post-commit"
    hook.write_text("#!/bin/sh\ngit config remote.origin.receivepack 'touch /nowhere; git-receive-pack'\n")
    hook.chmod(0o755)
    place = world.place()
    write(world, place, hello__py="x\n")
    assert "remote.origin.receivepack" in feature(world, place).content
    assert world.git("branch", "--list", "agent/*", at=world.bare) == ""
    hook.unlink()
    world.git("config", "--unset", "remote.origin.receivepack")
    assert not feature(world, place).is_error


@pytest.mark.thorough
def test_what_git_keeps_of_branches_is_no_change_of_its_settings(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.git("branch", "mine", "--track", "origin/main")
    assert not feature(world, place).is_error
    write(world, place, hello__py="y\n")
    assert not feature(world, place, 2, "Say goodbye").is_error
