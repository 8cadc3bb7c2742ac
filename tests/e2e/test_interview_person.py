"""A person in an interview: answers, looks at what is known, corrects, leaves, comes back, hands over."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.test_repl_person import home, work  # noqa: F401  # fixtures
from tests.support.terminal import CTRL_C, CTRL_D, Terminal

ASKS = "you ❯$"


def interview(home: Path, work: Path, *words: str) -> Terminal:  # noqa: F811
    return Terminal("interview", "--planner", "offline", *words, home=home, cwd=work, rows=50)


def test_it_asks_shows_what_it_knows_and_goes_on_later(home: Path, work: Path) -> None:  # noqa: F811
    with interview(home, work) as person:
        person.see("Which problem do you want to solve")
        person.see(ASKS, where="line")
        person.type("our lists of members differ\r")
        person.see(r"Noted: Core problem: our lists of members differ\s+Why now\?")
        person.see(r"5 % · learnt: Core problem\s+you ❯")
        person.type(":panel\r")
        person.see(r"Core Requirements +1/15.*our lists of members differ +\(95 %, turn 1\).*you ❯")
        person.type(":why core problem\r")
        person.see("said: “our lists of members differ”.*you ❯")
        person.type("skip\r")
        person.see(r"How do you deal with it today\?.*you ❯")
        person.type(":nothing\r")
        person.see(r"no command called ':nothing'.*you ❯")
        person.type(CTRL_D)
        person.see("kept: agent-shell interview --resume ")
        assert person.leaves() == 0
    with interview(home, work, "--resume", "last") as person:
        person.see(r"2 turns, 6 % known.*How do you deal with it today\?.*you ❯")
        person.type("with spreadsheets\r")
        person.see(r"Noted: Current solution: with spreadsheets.*you ❯")
        person.type("stop\r")
        person.see("The interview ends here")
        assert person.leaves() == 0
    [log] = (home / "sessions").glob("*.jsonl")
    events = [json.loads(line) for line in log.open()]
    assert [each["turn"] for each in events if each["type"] == "interview.turned"] == [1, 2, 3, 4]
    assert all("telemetry" in each["steps"] for each in events if each["type"] == "interview.turned")


def test_ctrl_c_at_the_question_leaves_and_nothing_is_lost(home: Path, work: Path) -> None:  # noqa: F811
    with interview(home, work, "exploration", "a", "site", "for", "our", "club") as person:
        person.see(r"Noted: Goal: a site for our club.*you ❯")
        person.type("never mind")
        person.see("you ❯ never mind$", where="line")
        person.type(CTRL_C)
        person.see(ASKS, where="line")
        person.type(CTRL_C)
        person.see("kept: agent-shell interview --resume ")
        assert person.leaves() == 0
