"""A person in an interview, by itself and as a mode of the REPL: answers, looks at what is known, leaves, comes back, hands over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.interview_case import asking
from tests.support.terminal import CTRL_C, CTRL_D, Terminal

ASKS = "interview ❯ ?$"
F3 = "\x1bOR"


def interview(home: Path, work: Path, *words: str, columns: int = 90) -> Terminal:
    return Terminal("interview", "--planner", "offline", *words, home=home, cwd=work, rows=50, columns=columns)


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """An engine that is ready with two answers, and hands over to the planner."""
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "engine.yaml").write_text(json.dumps(asking("planner", ready=0.5)))
    return folder


@pytest.mark.thorough
def test_it_asks_shows_what_it_knows_and_goes_on_later(home: Path, work: Path) -> None:
    with interview(home, work) as person:
        person.see("Which problem do you want to solve")
        person.see(ASKS, where="line")
        person.type("our lists of members differ\r")
        person.see(r"Noted: Core problem: our lists of members differ\s+Why now\?")
        person.see(r"5 % · learnt: Core problem\s+(root )?interview ❯")
        person.type(":panel\r")
        person.see(r"Core Requirements +1/15.*our lists of members differ +\(95 %, turn 1\).*interview ❯")
        person.type(":why core problem\r")
        person.see("said: “our lists of members differ”.*interview ❯")
        person.type("skip\r")
        person.see(r"How do you deal with it today\?.*interview ❯")
        person.type(":nothing\r")
        person.see(r"no command called ':nothing'.*interview ❯")
        person.type(CTRL_D)
        person.see("kept: agent-shell interview --resume ")
        assert person.leaves() == 0
    with interview(home, work, "--resume", "last") as person:
        person.see(r"2 turns, 6 % known.*How do you deal with it today\?.*interview ❯")
        person.type("with spreadsheets\r")
        person.see(r"Noted: Current solution: with spreadsheets.*interview ❯")
        person.type("stop\r")
        person.see("The interview ends here")
        assert person.leaves() == 0
    [log] = (home / "sessions").glob("*.jsonl")
    events = [json.loads(line) for line in log.open()]
    assert [each["turn"] for each in events if each["type"] == "interview.turned"] == [1, 2, 3, 4]
    assert all("telemetry" in each["steps"] for each in events if each["type"] == "interview.turned")


def test_the_panel_stands_beside_the_answers_and_nothing_of_it_stays(home: Path, work: Path) -> None:
    with interview(home, work, columns=120) as person:
        person.see(r"interview ❯ +│ Getting Started", where="screen")
        person.type("our 会員名簿 differ\r")
        person.see(r"interview ❯ +│ \S.*│ ✓ .* 95 %\s+│ +our 会員名簿 differ · turn 1 *\n", where="screen")
        assert "learnt:" not in person.text
        person.until(lambda: person.text.count("│ ✓") == 1)  # what is drawn comes in pieces
        person.type(F3)
        person.see(r"interview ❯ *\n project-discovery · .*F3: panel", where="screen")
        person.until(lambda: "│" not in person.screen)
        person.type(":panel on\r")
        person.see(r":panel on\s+(root )?interview ❯ +│ ", where="screen")
        person.resize(90, 50)
        person.see(r"interview ❯ *\n project-discovery · offline · :help · exit", where="screen")
        person.type("skip\r")
        person.see(r"% *\n.*interview ❯ *\n", where="screen")
        person.type(":go planner\r")
        person.see("too little is known to hand over.*❯ *\n")
        assert "failed" not in person.text
        person.type(CTRL_C)
        person.see("kept: agent-shell interview --resume ")
        person.until(lambda: "│" not in person.text)
        assert person.leaves() == 0


@pytest.mark.thorough
def test_keys_typed_ahead_are_the_next_answer_and_ctrl_c_ends_turn_and_talk(home: Path, work: Path) -> None:
    replies = [
        {"json": {}},
        {"text": "Since when?", "delay": 0.3},
        {"json": {}},
        {"text": "And for whom?"},
        {"json": {}, "delay": 600},
    ]
    (home / "talk.json").write_text(json.dumps({"reply": replies}))
    with interview(home, work, "--planner", f"scripted:{home}/talk.json", "exploration", "lists", "differ") as person:
        person.see("Exploration Engine")
        person.type("since spring\r")
        person.see(r"Since when\?.*❯ since spring *\n.*And for whom\?.*interview ❯ ?\n")
        person.type("for all of us\r")
        person.see("thinking…")
        person.type(CTRL_C)
        person.see("stopped; that answer was not taken in\\s+(root )?interview ❯")
        person.type("never mind")
        person.see("interview ❯ never mind$", where="line")
        person.type(CTRL_C)
        person.see(ASKS, where="line")
        person.type(CTRL_C)
        person.see("kept: agent-shell interview --resume ")
        assert person.leaves() == 0
    [log] = (home / "sessions").glob("*.jsonl")
    events = [json.loads(line) for line in log.open()]
    assert [each["turn"] for each in events if each["type"] == "interview.turned"] == [1, 2]


@pytest.mark.thorough
def test_as_a_mode_of_the_repl_it_is_left_gone_on_with_and_hands_over(home: Path, work: Path, engine: Path) -> None:
    (work / "a.txt").write_text("x")
    with Terminal("--planner", "offline", home=home, cwd=work, rows=50, columns=120) as person:
        person.at_prompt()
        person.type(f":interview {engine}\r")
        person.see(r"What is wrong\?\s+(root )?interview ❯ +│ First", where="screen")
        person.type("our lists differ\r")
        person.see(r"Why now\?\s+(root )?interview ❯")
        person.type(":jobs\r")
        person.see(r"no jobs.*interview ❯")
        person.type("!ls\r")
        person.at_confirmation("ls")
        person.type("\r")
        person.see(r"a\.txt.*interview ❯")
        person.type(CTRL_C)
        person.see("kept: `:interview` goes on with it")
        person.at_prompt()
        person.type(":interview\r")
        person.see(r"1 turn, \d+ % known.*Why now\?\s+(root )?interview ❯")
        person.type("a letter came back\r")
        person.see(r"Hand over to the planner now\? \[y/N\] ❯", where="screen")
        person.type("y\r")
        person.see("the planner knows all of that with your next goal")
        person.at_prompt()
        person.type("list the files\r")
        person.at_confirmation("ls")
        person.type(CTRL_C)
        person.at_prompt()
        [name] = (
            each.stem for each in (home / "sessions").glob("*.jsonl") if '"profile":"interview"' in each.read_text()
        )
        number = name[11:]  # behind its day
        person.type(f":session {number}\r")
        person.see(rf"that session is an interview.*`:interview {number}` goes on")
        person.type(f":interview {number}\r")
        person.see("Sample: handed over to planner")
        person.at_prompt()
        person.type(CTRL_D)
        assert person.leaves() == 0
    logs = [[json.loads(line) for line in log.open()] for log in (home / "sessions").glob("*.jsonl")]
    profiles = {each[0].get("profile", "goals"): each for each in logs}
    assert {log[-1]["type"] for log in logs} == {"session.finished"}
    [goal] = [each for each in profiles["goals"] if each["type"] == "goal.started" and each["goal"] == "list the files"]
    assert "our lists differ" in json.dumps(goal["context"])
    assert "handed" in json.dumps(profiles["interview"][-6:])
