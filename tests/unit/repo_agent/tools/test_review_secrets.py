"""Secrets are neither committed nor pushed, and what others pushed meanwhile is said."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from agent.redaction.redactor import SecretRedactor
from agent.repo_agent.workplace import Workplace
from tests.support.github_server import GitHubServer
from tests.support.repo_world import RepoWorld
from tests.unit.repo_agent.tools.review_support import GRANTED, feature, submit, write


@pytest.fixture
def world(tmp_path: Path) -> RepoWorld:
    return RepoWorld(tmp_path)


def test_files_that_may_hold_secrets_are_not_committed(world: RepoWorld) -> None:
    place = world.place()
    write(world, place, __env="KEY=1\n", hello__py="x\n")
    result = feature(world, place)
    assert result.is_error and ".env may hold secrets" in result.content
    assert world.git("rev-parse", "agent/task-10") == world.git("rev-parse", "main")


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


SECRET = "sw0rdf1sh-" + "9f8e7d6c5b4a"
CODED = base64.b64encode(SECRET.encode()).decode()


def careful(world: RepoWorld) -> Workplace:
    world.approval = GRANTED
    place = world.place()
    place.redact = SecretRedactor({"SERVICE_KEY": SECRET}).redact
    return place


@pytest.mark.few(1)
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_what_others_have_pushed_is_no_secret_of_ours(world: RepoWorld) -> None:
    place = careful(world)
    other = world.other()
    world.commit("theirs", {"notes.txt": f"{SECRET}\n"}, at=other)
    world.git("push", "-q", at=other)
    world.git("pull", "-q", "--no-rebase", "origin", "main", at=Path(place.root))
    write(world, place, hello__py="x\n")
    assert not feature(world, place).is_error


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_branch_that_is_at_the_remote_before_its_first_push_is_said(world: RepoWorld) -> None:
    place = world.place()
    world.commit("by hand", {"y.py": "1\n"}, at=Path(place.root))
    world.git("push", "-q", "origin", "agent/task-10", at=Path(place.root))
    assert not submit(world, place).is_error
    assert place.progress.pushed_elsewhere == ["agent/task-10"]


@pytest.mark.thorough
def test_a_branch_that_is_gone_on_with_is_where_it_was_left(world: RepoWorld) -> None:
    write(world, place := world.place(), hello__py="x\n")
    assert not feature(world, place).is_error and not submit(world, place).is_error
    again = world.place()
    write(world, again, hello__py="y\n")
    assert not feature(world, again, 2).is_error and not submit(world, again).is_error
    assert (place.progress.pushed_elsewhere, again.progress.pushed_elsewhere) == ([], [])
