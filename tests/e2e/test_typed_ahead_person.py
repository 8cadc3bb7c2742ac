"""Keys that were not meant as an answer: a held Enter runs nothing, and what was typed too early waits in the next prompt."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.support.terminal import CTRL_C, ROOT, Terminal

HELD, LONG = 1.0, 600.0  # seconds: longer than a test waits for its turn, longer than it takes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def open_terminal(home: Path, work: Path, tmp_path: Path, dead_time: float) -> Terminal:
    """`dead_time`: seconds in which a question takes no Enter, and keys belong to what was begun before."""
    reply = {"json": {"mode": "command", "command": "cp a.txt b.txt"}}
    (tmp_path / "s.json").write_text(json.dumps({"reply": [reply, reply]}))
    (work / "a.txt").write_text("x")
    words = [sys.executable, str(ROOT / "tests/support/unhurried_program.py"), str(dead_time)]
    return Terminal(command=[*words, "--planner", f"scripted:{tmp_path}/s.json"], home=home, cwd=work)


def test_a_held_enter_runs_nothing(home: Path, work: Path, tmp_path: Path) -> None:
    with open_terminal(home, work, tmp_path, HELD) as person:
        person.at_prompt()
        person.type("go\r")
        for _ in range(30):
            time.sleep(0.03)
            person.process.send("\r")
            person.pump()
        person.at_confirmation("cp a.txt")
        assert not (work / "b.txt").exists()
        person.read(HELD + 0.1)
        person.type("\r")
        person.see(r"❯ cp a\.txt b\.txt.*❯ cp a\.txt b\.txt")  # it ran, and the planner proposes it again
        assert (work / "b.txt").exists()
        person.type(CTRL_C)


def test_over_a_slow_line_keys_from_before_the_question_was_seen_are_no_answer(
    home: Path, work: Path, tmp_path: Path
) -> None:
    with open_terminal(home, work, tmp_path, 0.1) as person:
        person.at_prompt()
        person.type("go\r")
        person.at_confirmation("cp a.txt")
        person.type(CTRL_C)
        person.at_prompt()
        person.late = []
        person.process.send("go\r")
        person.at_confirmation("cp a.txt")
        person.until(lambda: bool(person.late))
        person.read(1.0)  # longer than a question takes no Enter
        person.process.send("\r" + "and then this")
        person.until(person.are_taken)
        (answer,) = person.late
        person.process.send("\r" + answer)
        person.late = None
        person.read(1.0)
        assert not (work / "b.txt").exists()
        person.at_confirmation("cp a.txt b.txt")
        person.type("\r")
        person.until((work / "b.txt").exists)
        person.see(r"❯ and then this$", where="line")
        person.type(CTRL_C)


@pytest.mark.thorough
def test_what_was_typed_before_the_question_is_the_next_goals_text(home: Path, work: Path, tmp_path: Path) -> None:
    with open_terminal(home, work, tmp_path, LONG) as person:
        person.at_prompt()
        person.type("go\rand then this")
        person.at_confirmation("cp a.txt b.txt")
        assert "b.txtand" not in person.screen and "b.txt and" not in person.screen
        person.type(CTRL_C)
        person.see(r"❯ and then this$", where="line")
        assert not (work / "b.txt").exists()
        person.type(CTRL_C)


@pytest.mark.thorough
def test_a_goal_that_is_still_being_typed_when_the_question_comes_is_the_next_one(
    home: Path, work: Path, tmp_path: Path
) -> None:
    with open_terminal(home, work, tmp_path, HELD) as person:
        person.at_prompt()
        person.type("go\r")
        for key in "and then this one, and that one\r":  # some before the question stands there, most after
            person.process.send(key)
            time.sleep(0.04)
            person.pump()
        person.at_confirmation("cp a.txt b.txt")
        assert "b.txt " not in person.line
        assert not (work / "b.txt").exists()
        person.read(HELD + 0.1)
        person.type("x")  # after a look at it, keys edit again
        person.at_confirmation("cp a.txt b.txtx")
        person.type(CTRL_C)
        person.see(r"❯ and then this one, and that one$", where="line")
        assert not (work / "b.txt").exists()
        person.type(CTRL_C)


@pytest.mark.thorough
@pytest.mark.parametrize("before", [0, 9, 30])
def test_what_is_taken_away_of_it_is_taken_from_it_and_not_from_the_proposal(
    home: Path, work: Path, tmp_path: Path, before: int
) -> None:
    keys = "\x7f\x7fwrong\x15and then thsi\x7f\x7fis\x17this"
    with open_terminal(home, work, tmp_path, LONG) as person:
        person.at_prompt()
        person.type("go\r" + keys[:before])
        person.see(r"❯ cp a\.txt b\.txt") if before < 30 else None
        for key in keys[before:]:
            person.process.send(key)
        person.at_confirmation("cp a.txt b.txt")
        person.type(CTRL_C)
        person.see(r"❯ and then this$", where="line")
        person.type(CTRL_C)


def test_what_a_command_did_not_read_is_the_next_prompts_text(home: Path, work: Path, tmp_path: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="low") as person:
        person.at_prompt()
        person.type("!echo begun; until test -e go; do sleep 0.05; done\r")
        person.see(r"\nbegun\s*$", where="screen")  # what it says, not what was typed
        person.process.send("touch first\r\rtouch second")
        person.see("touch second")
        (work / "go").touch()
        person.see(r"❯ touch first\n· touch second\n", where="screen")
        assert not (work / "first").exists()
        person.type(CTRL_C)
        person.at_prompt()
    assert sorted(path.name for path in work.iterdir()) == ["go"]
    assert all("touch second" not in path.read_text() for path in (home / "sessions").glob("*.jsonl"))


def test_a_password_that_nobody_read_is_no_text_of_the_next_prompt(home: Path, work: Path, tmp_path: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="low") as person:
        person.at_prompt()
        person.type("!stty -echo; echo begun; until test -e go; do sleep 0.05; done; stty echo\r")
        person.see(r"\nbegun\s*$", where="screen")  # what it says, not what was typed
        person.process.send("hunter2\r")
        person.until(person.are_taken)
        (work / "go").touch()
        person.at_prompt()
        assert "hunter2" not in person.text
    assert all("hunter2" not in path.read_text() for path in (home / "sessions").glob("*.jsonl"))


@pytest.mark.thorough
def test_what_was_typed_before_a_question_does_not_answer_it(home: Path, work: Path) -> None:
    roles = home / ".config" / "agent-shell" / "roles"
    roles.mkdir(parents=True)
    (roles / "mine.md").write_text("You are terse.\n")
    with Terminal("--planner", "offline", home=home, cwd=work, columns=220) as person:
        person.at_prompt()
        person.type(":delete role mine\ry\rls")  # at once, before the question can stand there
        person.see(r"delete the role mine .*\[y/N\] ❯$", where="line")
        person.type("\r")
        person.see("nothing was deleted")
        person.see(r"❯ y\n· ls\n", where="screen")  # neither lost nor an answer
        person.type(CTRL_C)
    assert (roles / "mine.md").exists()
