"""Command memory, from goals given to the real program with its real log: what teaches, what comes back, and what never does."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.support.memory_world import MemoryWorld, proposed

GOAL = "tidy the numbers of a.txt"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryWorld:
    found = MemoryWorld(tmp_path, monkeypatch)
    for name in ("a.txt", "b.txt"):
        (found.work / name).write_text("2\n1\n")
    return found


def test_what_a_person_accepted_is_proposed_for_the_same_goal(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    again = world.session("offline", GOAL)
    assert proposed(again) == ["sort -n a.txt"]
    assert "as earlier today in this folder; 1 of 1 worked" in again.asked[0].proposal.reason


@pytest.mark.thorough
def test_it_is_known_in_the_same_session_at_once(world: MemoryWorld) -> None:
    commands = [{"mode": "command", "command": "sort -n a.txt"}, {"mode": "chat", "message": "done"}]
    world.session(world.script(*commands), GOAL, "!true")
    person = world.session("offline", GOAL, GOAL)
    assert proposed(person) == ["sort -n a.txt"] * 2
    assert "2 of 2 worked" in person.asked[1].proposal.reason


def test_other_literals_are_filled_in(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    assert proposed(world.session("offline", "please tidy the numbers of b.txt")) == ["sort -n b.txt"]


@pytest.mark.thorough
def test_an_edit_replaces_what_was_proposed(world: MemoryWorld) -> None:
    goal = "count the lines of a.txt"
    first = world.session("offline", goal, edits={"wc -l a.txt": "grep -c '' a.txt"})
    assert proposed(first) == ["wc -l a.txt"]
    again = world.session("offline", goal)
    assert proposed(again) == ["grep -c '' a.txt"]
    assert "as you wrote it; 1 of 1 worked" in again.asked[0].proposal.reason


@pytest.mark.thorough
def test_forgetting_an_edit_forgets_what_it_replaced(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    world.taught(GOAL, "sort -n a.txt", edits={"sort -n a.txt": "sort -g a.txt"})
    assert proposed(world.session("offline", GOAL)) == ["sort -g a.txt"]
    world.session("offline", ":forget sort -g")
    again = world.session("offline", GOAL)
    assert proposed(again) == ["sort -n a.txt"]
    assert "; 1 of 1 worked" in again.asked[0].proposal.reason


@pytest.mark.thorough
def test_what_was_replaced_once_comes_back_when_it_is_taken_again(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt", edits={"sort -n a.txt": "sort -n missing.txt"})
    assert proposed(world.session("offline", GOAL)) == []
    world.taught(GOAL, "sort -n a.txt")
    assert proposed(world.session("offline", GOAL)) == ["sort -n a.txt"]


@pytest.mark.thorough
def test_a_later_failure_takes_it_back(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    (world.work / "a.txt").unlink()
    world.session("offline", GOAL, edits={})
    (world.work / "a.txt").write_text("1\n")
    assert proposed(world.session("offline", GOAL)) == []  # one of two is no recommendation


def test_what_ran_without_a_person_teaches_nothing(world: MemoryWorld) -> None:
    assert proposed(world.taught(GOAL, "sort -n a.txt", approve="low")) == []
    assert proposed(world.session("offline", GOAL)) == []


@pytest.mark.thorough
def test_what_failed_or_was_skipped_teaches_nothing(world: MemoryWorld) -> None:
    world.taught("tidy the numbers of a.txt", "sort -n missing.txt")
    world.taught("tidy the numbers of b.txt", "sort -n b.txt", edits={"sort -n b.txt": ""})
    assert proposed(world.session("offline", GOAL, "tidy the numbers of b.txt")) == []


@pytest.mark.thorough
def test_an_answer_that_is_no_zero_teaches(world: MemoryWorld) -> None:
    world.taught("does a.txt mention quince trees", "grep -i quince a.txt")
    assert proposed(world.session("offline", "does a.txt mention quince trees")) == ["grep -i quince a.txt"]


def test_what_changes_something_comes_back_only_where_it_was(world: MemoryWorld) -> None:
    goal = "drop my scratch stuff"
    (world.work / "scratch").mkdir()
    elsewhere = world.base / "elsewhere"
    elsewhere.mkdir()
    world.taught(goal, "rm -r scratch")
    assert not (world.work / "scratch").exists()
    assert proposed(world.session("offline", goal, cwd=elsewhere)) == []
    (world.work / "scratch").mkdir()
    assert proposed(world.session("offline", goal)) == ["rm -r scratch"]


@pytest.mark.thorough
def test_what_changes_something_is_not_filled_in(world: MemoryWorld) -> None:
    world.taught("ditch the thing a.txt", "rm a.txt")
    assert proposed(world.session("offline", "ditch the thing b.txt")) == []
    assert (world.work / "b.txt").exists()


def test_secrets_and_private_goals_are_not_remembered(world: MemoryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "ghp_" + "k3VbT9xQ" * 4 + "aB3d"
    world.taught("greet the server now", f"echo {token}")
    world.taught(f" {GOAL}", "sort -n a.txt")  # with a blank in front
    world.session("offline", "greet the server now", GOAL)
    for path in (world.state / "memory").iterdir():
        data = path.read_bytes()
        assert token.encode() not in data
        assert b"[redacted" not in data
        assert b"sort -n" not in data


@pytest.mark.thorough
def test_a_replay_and_a_copied_log_teach_nothing(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    stranger = world.base / "logs2"
    shutil.copytree(world.logs, stranger, ignore=shutil.ignore_patterns(".index*"))
    assert proposed(world.session("offline", GOAL, session_dir=str(stranger))) == []
    shutil.rmtree(world.state / "heads")  # as where another machine wrote it
    shutil.rmtree(world.state / "memory", ignore_errors=True)
    assert proposed(world.session("offline", GOAL)) == []


def test_a_folder_that_others_write_to_teaches_nothing(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    (world.logs / "notes.md").write_text("so that it is not made private")
    world.logs.chmod(0o777)
    assert proposed(world.session("offline", GOAL)) == []


@pytest.mark.thorough
def test_off_and_no_persist_neither_learn_nor_propose(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt", memory="off")
    assert not (world.state / "memory").exists()
    for flags in ({"memory": "off"}, {"persist": False}):
        assert proposed(world.session("offline", GOAL, **flags)) == []
    assert not (world.state / "memory").exists()
    assert proposed(world.session("offline", GOAL)) == ["sort -n a.txt"]  # the log had it all the time


@pytest.mark.thorough
def test_the_file_is_private_and_a_damaged_one_is_made_anew(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    world.session("offline", GOAL)
    (path,) = (world.state / "memory").glob("*.sqlite3")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for damage in (b"not a database", path.read_bytes()[:4096] + os.urandom(8192)):
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        path.write_bytes(damage)
        assert proposed(world.session("offline", GOAL)) == ["sort -n a.txt"]
    path.unlink()
    path.symlink_to(world.base / "trap")
    assert proposed(world.session("offline", GOAL)) == []  # none, and nothing else is wrong
    assert not (world.base / "trap").exists()


@pytest.mark.thorough
def test_a_pruned_log_is_forgotten(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    assert proposed(world.session("offline", GOAL, edits={"sort -n a.txt": ""})) == ["sort -n a.txt"]
    for log in world.logs.glob("*.jsonl"):
        log.unlink()
    assert proposed(world.session("offline", GOAL)) == []


def test_forget_the_last_by_words_and_all(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    world.taught("greet me warmly", "echo hello")
    world.taught("greet me coldly", "echo hm")
    world.session("offline", ":memory")
    assert "3 commands for goals" in world.told[-1]
    world.session("offline", ":forget")
    assert world.told[-1] == "forgotten: echo hm"
    assert proposed(world.session("offline", "greet me coldly", "greet me warmly")) == ["echo hello"]
    world.session("offline", ":forget GREET hello")
    assert proposed(world.session("offline", "greet me warmly", GOAL)) == ["sort -n a.txt"]
    world.answer = False
    world.session("offline", ":forget all")
    assert world.told[-1] == "nothing was forgotten"
    assert proposed(world.session("offline", GOAL)) == ["sort -n a.txt"]
    world.answer = True
    world.session("offline", ":forget --since 1h")
    assert proposed(world.session("offline", GOAL)) == []
    world.session("offline", ":memory")
    assert "0 commands for goals" in world.told[-1]


@pytest.mark.thorough
def test_what_was_forgotten_stays_so_when_the_memory_is_made_anew(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    world.session("offline", ":forget sort")
    (path,) = (world.state / "memory").glob("*.sqlite3")
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM entries").fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    (list_,) = (world.state / "memory").glob("*.forgotten")
    assert stat.S_IMODE(list_.stat().st_mode) == 0o600
    assert b"sort" not in list_.read_bytes()
    assert b"tidy" not in list_.read_bytes()
    path.unlink()
    assert proposed(world.session("offline", GOAL)) == []
    world.taught(GOAL, "sort -n a.txt")  # what is learned afterwards counts
    assert proposed(world.session("offline", GOAL)) == ["sort -n a.txt"]
    list_.write_bytes(list_.read_bytes()[:-9])  # torn: it may have forgotten anything
    assert proposed(world.session("offline", GOAL)) == []


@pytest.mark.thorough
def test_experience_is_counted_for_every_planner(world: MemoryWorld) -> None:
    world.session("offline", "!sort -n a.txt", "!sort -n b.txt", "!sort -n missing.txt")
    world.session("offline")
    assert world.services is not None
    experience = world.services.experience
    assert experience("sort -n other.txt", str(world.work)) == "Commands like this: 2 of 3 succeeded here"
    assert experience("sort -n other.txt", "/") == "Commands like this: 2 of 3 succeeded, mostly in other folders"
    assert experience("sort -r other.txt", str(world.work)) == ""


@pytest.mark.thorough
def test_models_on_this_machine_get_examples_and_others_only_when_told(world: MemoryWorld) -> None:
    world.taught(GOAL, "sort -n a.txt")
    told = world.context_of(world.script({"mode": "chat", "message": "ok"}), "tidy numbers of some file")
    assert "goal: tidy the numbers of a.txt" in told
    assert "sort -n a.txt" in told
    assert world.context_of(world.script({"mode": "chat", "message": "ok"}), "who won the cup") == ""
    assert world.context_of(world.script({"mode": "chat", "message": "ok"}), GOAL, memory="off") == ""
    flags = {"base_url": "http://192.0.2.1:9/v1", "model": "m", "max_retries": 0, "timeout": 0.2}
    assert world.context_of("custom", GOAL, **flags) == ""
    assert "sort -n" in world.context_of("custom", GOAL, memory="on", **flags)
    flags["base_url"] = "http://127.0.0.1:9/v1"
    assert "sort -n" in world.context_of("custom", GOAL, **flags)
