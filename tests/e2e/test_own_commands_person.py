"""A person who types commands of their own at the goal prompt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.test_repl_person import events, statuses
from tests.support.terminal import CTRL_C, CTRL_U, Terminal

F6 = "\x1b[17~"


def origins(home: Path) -> list[str]:
    return [event["origin"] for event in events(home) if event["type"] == "goal.started"]


def test_low_ones_run_at_once_and_the_shell_remembers(home: Path, work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "inner.txt").write_text("")
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        for line, seen in (
            ("ls", r"note3\.txt"),
            ("export GREETING=moin", r"GREETING=moin\s.*❯"),
            ("cd src", r"cd src\s.*❯.*work/src"),
            ("ls", r"inner\.txt"),
            ("echo $GREETING you", "moin you"),
            ("for n in 1 2; do echo =$n=; done", "=2="),
        ):
            person.type(line)
            person.see("command · F6: goal", where="screen")
            person.type("\r")
            person.see(seen)
            person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["completed"] * 6
    assert set(origins(home)) == {"shell"}


@pytest.mark.thorough
def test_the_key_switches_at_the_confirmation_and_runs_nothing(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="ask", columns=140) as person:
        person.at_prompt()
        person.type("sort note3.txt\r")
        for now, other in (("command", "goal"), ("goal", "command"), ("command", "goal"), ("goal", "command")):
            person.see(rf"{now} · Enter runs.*F6 {other}", where="screen")
            person.at_confirmation("sort note3.txt")
            person.type(F6)
        person.see(r"command · Enter runs.*F6 goal", where="screen")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["cancelled"] * 5
    assert origins(home)[0] != origins(home)[1] == origins(home)[3]


@pytest.mark.thorough
def test_the_key_makes_a_goal_of_it_and_back(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        person.type("count the lines of note3.txt")
        person.see("goal · F6: command", where="screen")
        person.type(CTRL_U)
        person.type("sort note3.txt")
        person.see("command · F6: goal", where="screen")
        person.type(F6)
        person.see("goal · F6: command", where="screen")
        person.type("\r")
        person.at_confirmation("sort note3.txt")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("rm note3.txt\r")  # of a higher risk: asked about, as typed
        person.at_confirmation("rm note3.txt")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert origins(home) == ["goal", "shell"]
    assert (work / "note3.txt").exists()


@pytest.mark.thorough
def test_what_is_no_program_is_said_before_enter(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        person.type("gti status")
        person.see(r"gti: not found; git\?", where="screen")
        person.type("\r")
        person.see(r"`:prompt gti status` sends it as a goal")
        person.at_prompt()
        person.type(":sesions\r")
        person.see(r"there is no command :sesions.*:session")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == []


def test_a_setting_has_each_of_them_asked_about(home: Path, work: Path) -> None:
    (home / ".config" / "agent-shell" / "config.toml").write_text('own = "ask"\n')
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        person.type("ls\r")
        person.at_confirmation("ls")
        person.type("\r")
        person.see(r"note3\.txt")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0


@pytest.mark.thorough
def test_one_line_on_the_command_line_is_a_command_too(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", "ls -a note*", home=home, cwd=work, own="") as person:
        person.see(r"note3\.txt")
        assert person.leaves() == 0
    with Terminal("--planner", "offline", "rm note3.txt", home=home, cwd=work, own="") as person:
        person.at_confirmation("rm note3.txt")
        person.type(CTRL_C)
        assert person.leaves() == 130
    assert origins(home) == ["shell", "shell"]


@pytest.mark.thorough
def test_an_editor_opens_at_once(home: Path, work: Path) -> None:
    editor = home / "bin" / "vi"  # in the project it would be asked about
    editor.parent.mkdir()
    editor.write_text('#!/bin/sh\necho "edits $1"; read line; echo "wrote $line"\n')
    editor.chmod(0o755)
    path = f"{editor.parent}:{os.environ['PATH']}"
    with Terminal("--planner", "offline", home=home, cwd=work, own="", PATH=path) as person:
        person.at_prompt()
        person.type("vi note3.txt\r")
        person.see("edits note3.txt")
        person.type("something\r")
        person.see("wrote something")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    started = [event for event in events(home) if event["type"] == "goal.started"]
    assert [event["typed"] for event in started] == [True]


@pytest.mark.thorough
def test_programs_that_keep_a_history_are_left_as_they_are_elsewhere(home: Path, work: Path) -> None:
    """What runs unasked may not write to the home folder; a pager that would like to is not ended for it."""
    (work / "long.txt").write_text("\n".join(f"line {n}" for n in range(400)))
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        person.type("less long.txt\r")
        person.see("line 20", where="screen")
        person.type("/line 300\r")
        person.see("line 310", where="screen")
        person.type("q")
        person.at_prompt()
        assert "ended" not in person.text and "killed" not in person.text
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["completed"]


def test_a_command_of_ours_typed_at_a_confirmation_runs_nothing(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="ask") as person:
        person.at_prompt()
        person.type("sort note3.txt\r")
        person.at_confirmation("sort note3.txt")
        person.type(f"{CTRL_U}:policy allow sort")
        person.see(":policy is for the goal prompt: Ctrl-C leads there", where="screen")
        person.type("\r")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["cancelled"]


@pytest.mark.thorough
def test_what_ctrl_c_ended_is_said_once(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, own="") as person:
        person.at_prompt()
        person.type("echo begun; sleep 30\r")
        person.see("\nbegun\n")
        person.type(CTRL_C)
        person.see(r"\ninterrupted after [0-9.]+")
        person.at_prompt()
        assert "– interrupted" not in person.text
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["interrupted"]
