"""A person who works with an agent at the prompt: takes one, begins with a starter, sees its list, stops it, comes back to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_repl_person import chat, command, events, script, statuses
from tests.support.terminal import CTRL_C, Terminal

HELPER = """---
description: counts lines
starters:
  - count the lines of the notes
---
You count lines.
"""


def update(*items: str) -> dict[str, Any]:
    made = [{"text": item.removeprefix("x "), "done": item.startswith("x ")} for item in items]
    return {"mode": "tools", "tool_calls": [{"tool_name": "update_todo", "arguments": {"items": made}}]}


def count(file: str) -> dict[str, str]:
    return command(f"wc -l {file}", "counts")


def agent(home: Path) -> None:
    folder = home / ".config" / "agent-shell" / "agents"
    folder.mkdir()
    (folder / "counter.md").write_text(HELPER)


@pytest.mark.covers("S1-42", "S1-57")
def test_a_starter_is_worked_off_and_the_list_is_seen(home: Path, work: Path) -> None:
    agent(home)
    (work / "note4.txt").write_text("x\n" * 5)
    planner = script(
        home,
        update("note3.txt", "note4.txt"), count("note3.txt"), update("x note3.txt", "note4.txt"), chat("note3.txt has 37 lines."),
        count("note4.txt"), update("x note3.txt", "x note4.txt"), chat("note4.txt has 5 lines. All is counted."),
    )  # fmt: skip
    with Terminal("--planner", planner, home=home, cwd=work) as person:
        person.at_prompt()
        person.type(":agent\r")
        person.see(r"counter +counts lines.*sysadmin")
        person.at_prompt()
        person.type(":agent counter\r")
        person.see(r"agent: counter; `:starter` lists how one can begin")
        person.at_prompt()
        person.type(":starter\r")
        person.see("1  count the lines of the notes")
        person.at_prompt()
        person.type(":starter 1\r")
        person.see(r"\[ \] note3.txt\s+\[ \] note4.txt")
        person.at_confirmation("wc -l note3.txt")
        person.type("\r")
        person.see(r"\[x\] note3.txt\s+\[ \] note4.txt")
        person.see(r"⟳ Continuing \(1/100, 1 todos? remaining\)")
        person.at_confirmation("wc -l note4.txt")
        person.type("\r")
        person.see("All is counted")
        person.at_prompt()
        person.type(":exit agent\r")
        person.see("left the agent counter")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["completed", "completed"]
    assert [event["outcome"]["auto_continued"] for event in events(home) if event["type"] == "run.finished"][3] == 1


@pytest.mark.thorough
def test_ctrl_c_ends_it_and_the_session_has_agent_and_list_again(home: Path, work: Path) -> None:
    agent(home)
    planner = script(
        home,
        update("note3.txt", "note4.txt"),
        chat("I begin."),
        count("note3.txt"),
        chat("never said"),
        chat("never said"),
    )
    with Terminal("--planner", planner, "--agent", "counter", home=home, cwd=work) as person:
        person.at_prompt()
        person.type("count\r")
        person.see(r"⟳ Continuing \(1/100, 2 todos remaining\)")
        person.at_confirmation("wc -l note3.txt")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home)[0] == "answered"
    assert len(statuses(home)) == 2
    assert "never said" not in str(events(home))
    with Terminal("--planner", planner, "--session-id", "last", home=home, cwd=work) as person:
        person.see(r"as it was left:.*agent counter, 2 of 2 todos open")
        person.at_prompt()
        person.type(":info agent\r")
        person.see(r"todo +\[ \] note3.txt\s+\[ \] note4.txt")
        person.type("exit\r")
        assert person.leaves() == 0
