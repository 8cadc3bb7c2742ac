"""Features committed and tasks submitted: real git, a real bare remote, real hooks, and the gate between."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from agent.policy.model import Rule
from agent.protocol.actions import OpenPullRequest
from agent.protocol.decisions import Approved, Level, Skipped
from agent.protocol.events.command import CommandFinished, CommandStarted
from agent.protocol.ports import ToolResult
from agent.protocol.requests import Approval
from agent.redaction.redactor import SecretRedactor
from agent.repo_agent.tools.commands import COMMANDS
from agent.repo_agent.tools.review import TOOLS
from agent.repo_agent.workplace import Workplace
from tests.support.fakes import FakePerson
from tests.support.github_server import GitHubServer
from tests.support.repo_world import RepoWorld

GRANTED = Approval(mode="medium", interactive=False, grants=("push", "pull-request"))
TOOL = {each.name: each for each in TOOLS}


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


def call(world: RepoWorld, place: Workplace, name: str, **arguments: Any) -> ToolResult:
    tool = TOOL[name]
    place.progress.calls += 1
    return asyncio.run(tool.run(tool.read(arguments), place, world.doors(Path(place.root))))


def feature(world: RepoWorld, place: Workplace, number: int = 1, title: str = "Say hello", **more: Any) -> ToolResult:
    return call(world, place, "finish_feature", task_id=place.task, feature_id=number, title=title, **more)


def submit(world: RepoWorld, place: Workplace, title: str = "Greet people") -> ToolResult:
    return call(world, place, "submit_for_review", task_id=place.task, task_title=title)


def write(world: RepoWorld, place: Workplace, **files: str) -> None:
    world.write({name.replace("__", "."): text for name, text in files.items()}, at=Path(place.root))


def message(world: RepoWorld, revision: str, at: Path | None = None) -> str:
    return world.git("log", "-1", "--format=%B", revision, at=at)


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


def test_without_a_remote_nothing_is_pushed(tmp_path: Path) -> None:
    world = RepoWorld(tmp_path, remote=False)
    place = world.place()
    write(world, place, hello__py="x\n")
    assert "no remote" in feature(world, place).content
    assert not submit(world, place).is_error
    assert "Greet people" in world.git("show", "review/task-10:REVIEW.md")
    assert not any("push" in text or "fetch" in text for text in world.asked)


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


@pytest.mark.few(1)
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


def test_there_has_to_be_something_to_commit_and_to_submit(world: RepoWorld) -> None:
    place = world.place()
    assert "nothing to commit for feature 10.1" in feature(world, place).content
    assert "nothing to submit" in submit(world, place).content


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
    place.root, place.repository, place.branch = str(world.checkout), world.repository(), "main"
    write(world, place, hello__py="x\n")
    assert "main is protected" in feature(world, place).content
    assert "main is protected" in submit(world, place).content


def test_the_task_of_the_cycle_only(world: RepoWorld) -> None:
    place = world.place()
    result = call(world, place, "finish_feature", task_id=11, feature_id=1, title="x")
    assert "this cycle is for task 10" in result.content


def test_files_that_may_hold_secrets_are_not_committed(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, __env="KEY=1\n", hello__py="x\n")
    result = feature(world, place)
    assert result.is_error and ".env may hold secrets" in result.content
    assert world.git("rev-parse", "agent/task-10") == world.git("rev-parse", "main")


def test_a_repository_in_the_repository_is_not_committed(world: RepoWorld) -> None:
    place = world.place()
    world.git("clone", "-q", str(world.bare), str(Path(place.root) / "lib/copy"), at=world.base)
    result = feature(world, place)
    assert result.is_error and "lib/copy/ is a repository of its own" in result.content


def test_a_push_that_nobody_agreed_to_is_not_looked_into(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.person = FakePerson(Approved(command="git add -A && git commit -m x"), Skipped())
    assert "agent/task-10 was not pushed: it did not run (skipped)" in feature(world, place).content
    assert world.asked[-1].startswith("git push")


def test_a_remote_that_is_gone_is_said_in_the_words_of_git(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.bare.rename(world.base / "gone.git")
    assert "does not appear to be a git repository" in feature(world, place).content


def test_credentials_in_the_address_of_a_remote_are_in_no_answer_and_no_log(world: RepoWorld) -> None:
    with GitHubServer() as server:  # it is no git server: the push fails, and says where it went
        world.git("remote", "set-url", "origin", f"http://ada:{server.token}@{server.host}/ada/project.git")
        place = world.place()
        write(world, place, hello__py="x\n")
        result = feature(world, place)
    assert result.is_error and server.host in result.content
    assert server.token not in result.content
    assert server.token not in repr([record.event for record in world.recorder.records])
    assert server.token not in repr(world.person.asked)


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


@pytest.mark.few(4)
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


@pytest.mark.few(4)
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


def test_what_git_keeps_of_branches_is_no_change_of_its_settings(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, hello__py="x\n")
    world.git("branch", "mine", "--track", "origin/main")
    assert not feature(world, place).is_error
    write(world, place, hello__py="y\n")
    assert not feature(world, place, 2, "Say goodbye").is_error


SECRET = "sw0rdf1sh-" + "9f8e7d6c5b4a"
CODED = base64.b64encode(SECRET.encode()).decode()


def careful(world: RepoWorld) -> Workplace:
    world.approval = GRANTED
    place = world.place()
    place.redact = SecretRedactor({"SERVICE_KEY": SECRET}).redact
    return place


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["notes.txt", "sub/a b.bin", "hello.py"])
@pytest.mark.parametrize(
    "data",
    [f"KEY is {SECRET}\n".encode(), f"\0\1{SECRET}\0".encode(), SECRET.encode("utf-16"), f"x {CODED}\n".encode()],
)
def test_a_secret_is_not_committed_under_another_name(world: RepoWorld, name: str, data: bytes) -> None:
    place = careful(world)
    path = Path(place.root) / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    for result in (feature(world, place), submit(world, place)):
        assert result.is_error and f"{name} would carry what looks like a secret" in result.content
    assert world.git("rev-parse", "agent/task-10") == world.git("rev-parse", "main")
    path.write_text("nothing\n")
    assert not feature(world, place).is_error


def test_a_secret_that_a_commit_has_already_is_not_pushed_even_where_a_later_one_takes_it_out(world: RepoWorld) -> None:
    place = careful(world)
    world.commit("mine", {"notes.txt": f"{SECRET}\n"}, at=Path(place.root))
    write(world, place, notes__txt="nothing\n")
    result = feature(world, place)
    assert "agent/task-10 was not pushed: notes.txt would carry" in result.content
    assert world.git("branch", "--list", "agent/*", at=world.bare) == ""
    world.git("push", "-q", "origin", "agent/task-10")  # by the person
    assert not feature(world, place).is_error


def test_a_secret_in_a_message_is_not_committed(world: RepoWorld) -> None:
    place = careful(world)
    write(world, place, hello__py="x\n")
    assert "the message holds" in feature(world, place, message=f"with {SECRET}").content
    world.git("commit", "-qam", f"with {SECRET}", at=Path(place.root))
    write(world, place, hello__py="y\n")
    assert "the message of a commit would carry" in feature(world, place).content


@pytest.mark.thorough
def test_what_is_too_much_to_look_through_is_not_committed(world: RepoWorld) -> None:
    place = careful(world)
    write(world, place, large__txt="x\n" * 4_000_000 + SECRET)
    assert "too much has changed" in feature(world, place).content
    write(world, place, large__txt="x\n", hello__py="x\n" * 4_000_000)
    assert "too much to look through" in feature(world, place).content
    write(world, place, large__txt="x\n")
    world.commit("large", {"hello.py": "y\n" * 4_000_000}, at=Path(place.root))
    write(world, place, large__txt="z\n")
    assert "too much to look through" in feature(world, place).content
    assert world.git("branch", "--list", "agent/*", at=world.bare) == ""


@pytest.mark.parametrize(
    "words",
    [
        "fetch -q . HEAD:refs/remotes/origin/x",
        "update-ref refs/remotes/origin/main HEAD",
        "update-ref refs/remotes/origin/agent/task-10 HEAD",
    ],
)
def test_names_of_what_the_remote_has_that_a_command_moved_hide_no_secret(world: RepoWorld, words: str) -> None:
    place = careful(world)
    world.commit("mine", {"notes.txt": f"{SECRET}\n"}, at=Path(place.root))
    world.git(*words.split(" "), at=Path(place.root))
    write(world, place, hello__py="x\n")
    assert "agent/task-10 was not pushed: notes.txt would carry" in feature(world, place).content
    assert world.git("branch", "--list", "agent/*", at=world.bare) == ""


def test_a_base_that_a_command_moved_is_not_the_base(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, TASKS__md="# Tasks\n\n## 10. Nothing\nStatus: todo\n")
    world.git("commit", "-qam", "less", at=Path(place.root))
    world.git("update-ref", "refs/remotes/origin/main", "HEAD", at=Path(place.root))
    world.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/agent/task-10", at=Path(place.root))
    assert not submit(world, place).is_error
    assert "## 10. Greet people" in world.git("show", f"{place.base}:TASKS.md")
    assert "- Files changed: 1" in world.git("show", "review/task-10:REVIEW.md", at=world.bare)
    world.git("update-ref", "refs/remotes/origin/agent/task-10", "HEAD", at=Path(place.root))
    assert world.run(world.repository().base()).branch == "main"


def test_a_secret_below_the_review_is_not_pushed(world: RepoWorld) -> None:
    place = careful(world)
    world.git("switch", "-qc", "review/task-10", at=Path(place.root))
    world.commit("mine", {"notes.txt": f"{SECRET}\n"}, at=Path(place.root))
    world.git("switch", "-q", "agent/task-10", at=Path(place.root))
    write(world, place, hello__py="x\n")
    assert "review/task-10 was not pushed: notes.txt would carry" in submit(world, place).content
    assert world.git("branch", "--list", "review/*", at=world.bare) == ""


def test_what_others_have_pushed_is_no_secret_of_ours(world: RepoWorld) -> None:
    place = careful(world)
    other = world.other()
    world.commit("theirs", {"notes.txt": f"{SECRET}\n"}, at=other)
    world.git("push", "-q", at=other)
    world.git("pull", "-q", "--no-rebase", "origin", "main", at=Path(place.root))
    write(world, place, hello__py="x\n")
    assert not feature(world, place).is_error


def test_what_something_else_pushed_meanwhile_is_said_in_the_review(world: RepoWorld) -> None:
    """A script, or a target of a Makefile: it is not seen when it runs."""
    place = world.place()
    write(world, place, hello__py="x\n")
    assert not feature(world, place).is_error and place.progress.pushed_elsewhere == []
    world.commit("by hand", {"y.py": "1\n"}, at=Path(place.root))
    world.git("push", "-q", "origin", "agent/task-10", at=Path(place.root))
    write(world, place, hello__py="y\n")
    assert not feature(world, place, 2).is_error and place.progress.pushed_elsewhere == ["agent/task-10"]
    assert not submit(world, place).is_error
    text = world.git("show", "review/task-10:REVIEW.md", at=world.bare)
    assert "- **Something else than the agent's tools pushed to `agent/task-10` meanwhile**\n" in text


def test_a_branch_that_is_at_the_remote_before_its_first_push_is_said(world: RepoWorld) -> None:
    place = world.place()
    world.commit("by hand", {"y.py": "1\n"}, at=Path(place.root))
    world.git("push", "-q", "origin", "agent/task-10", at=Path(place.root))
    assert not submit(world, place).is_error
    assert place.progress.pushed_elsewhere == ["agent/task-10"]


def test_a_branch_that_is_gone_on_with_is_where_it_was_left(world: RepoWorld) -> None:
    write(world, place := world.place(), hello__py="x\n")
    assert not feature(world, place).is_error and not submit(world, place).is_error
    again = world.place()
    write(world, again, hello__py="y\n")
    assert not feature(world, again, 2).is_error and not submit(world, again).is_error
    assert (place.progress.pushed_elsewhere, again.progress.pushed_elsewhere) == ([], [])
