"""The REPL in terminals that can do less, or show what they should not."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.test_repl_person import chat, command, events, script, statuses
from tests.support.terminal import CTRL_C, CTRL_D, ROOT, Terminal


@pytest.mark.thorough
def test_narrow_window_wide_characters_and_resize(home: Path, work: Path) -> None:
    planner = script(home, command("echo 漢字漢字 größe e\u0301 " + "long " * 20), chat("ok"))
    with Terminal("--planner", planner, home=home, cwd=work, columns=34, rows=14) as person:
        person.at_prompt()
        person.type("漢字 größe\r")
        person.at_confirmation("echo")
        person.resize(90, 24)
        os.kill(person.process.pid, signal.SIGWINCH)
        person.type("X")
        person.see("long X", where="screen")
        person.type("\r")
        person.see("completed")
    goals = [event["goal"] for event in events(home) if event["type"] == "goal.started"]
    assert goals == ["漢字 größe"]


@pytest.mark.thorough
def test_invalid_bytes_in_a_goal(home: Path, work: Path) -> None:
    with Terminal("--planner", script(home, chat("understood")), home=home, cwd=work) as person:
        person.at_prompt()
        person.process.send(b"caf\xe9 \xf0\x9f\xa6\x80\r")
        person.see("understood")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["answered"]


@pytest.mark.thorough
def test_no_colour_means_none(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, NO_COLOR="1") as person:
        person.at_prompt()
        person.type("!rm -rf note3.txt\r")
        person.at_confirmation("rm -rf")
        person.see("(medium|high) · ")
        person.type(CTRL_C)
        person.at_prompt()
        assert not re.search(rb"\x1b\[[0-9;]*3[0-7][;m]|\x1b\[[0-9;]*38;|\x1b\[[0-9;]*9[0-7][;m]", person.raw)


def test_hostile_proposal_cannot_draw(home: Path, work: Path) -> None:
    planner = script(home, command("echo safe\u202e\x1b[2J\r#"), chat("x"))
    with Terminal("--planner", planner, home=home, cwd=work) as person:
        person.at_prompt()
        person.type("go\r")
        person.see(r"<U\+202E>", where="screen")
        person.see(r"\^\[\[2J", where="screen")
        assert b"\x1b[2J" not in person.raw
        assert "\u202e".encode() not in person.raw
        person.type(CTRL_C)
        person.at_prompt()


@pytest.mark.thorough
def test_dumb_terminal_has_lines(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, TERM="dumb") as person:
        person.see("goal:", where="line")
        person.type("!echo dumb-$((40+2))\r")
        person.see("y run", where="line")
        person.type("y\r")
        person.see("dumb-42")
        person.see("goal:", where="line")
        assert b"\x1b" not in person.raw
        person.type(CTRL_D)
        assert person.leaves() == 0


@pytest.mark.thorough
def test_dumb_terminal_shows_what_was_typed_too_early_and_does_it_after_enter(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, TERM="dumb") as person:
        person.see("goal:", where="line")
        person.type("!echo started; until test -e go; do sleep 0.02; done\r")
        person.see("y run", where="line")
        person.type("y\r")
        person.see(r"\nstarted\n")
        person.type("!echo early-$((40+2))\r!echo later-$((40+3))\r")  # while it runs
        (work / "go").touch()
        person.see(r"goal \(Enter alone: !echo early-\$\(\(40\+2\)\)\):", where="line")
        assert "early-42" not in person.text
        person.type("\r")
        person.see("y run", where="line")
        person.type("y\r")
        person.see("early-42")
        person.see(r"goal \(Enter alone: !echo later-\$\(\(40\+3\)\)\):", where="line")
        person.type("exit\r")
        assert person.leaves() == 0
        assert "later-43" not in person.text


def test_dumb_terminal_asks_anew_after_ctrl_c(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work, TERM="dumb") as person:
        person.see("goal:", where="line")
        person.type("never mind")
        person.see("never mind", where="line")
        person.type(CTRL_C)
        person.see("^goal: *$", where="line")
        person.process.kill(signal.SIGTERM)
        assert person.leaves() == 128 + signal.SIGTERM


@pytest.mark.thorough
def test_piped_stdin_is_confirmed_on_the_terminal(home: Path, work: Path) -> None:
    words = f"echo '!echo asked-$((40+2))' | {sys.executable} {ROOT}/agent_shell.py --planner offline; echo code=$?"
    with Terminal(home=home, cwd=work, command=["bash", "-c", words]) as person:
        person.at_confirmation("echo asked")
        person.type("\r")
        person.see("asked-42")
        person.see("code=0")
