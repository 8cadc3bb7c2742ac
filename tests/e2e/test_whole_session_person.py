"""A person's session from the first word to the exit, through role, session, agent and compression, at a real terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import CTRL_U, Terminal

CODE = "Here it is:\n\n```python\nimport os\nprint(os.getcwd())\n```\n\nThat is all."


def chat(text: str) -> dict[str, str]:
    return {"mode": "chat", "message": text}


def todo(*done: bool) -> dict[str, Any]:
    items = [{"text": f"part {number}", "done": each} for number, each in enumerate(done, 1)]
    return {"mode": "tools", "tool_calls": [{"tool_name": "update_todo", "arguments": {"items": items}}]}


REPLIES = (
    chat("Hello to you."),
    chat("A protocol that counts what it sends."),
    chat("First answer."),
    chat("Second answer."),
    chat("- the person asked about TCP"),  # the summary
    todo(False),
    {"mode": "command", "command": "echo from the agent"},
    todo(True),
    chat("The agent is done."),
)


@pytest.mark.covers("S1-3", "S1-20", "S1-21", "S1-22", "S1-24", "S1-69", "S1-79")
def test_from_hello_to_exit(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    agents = home / ".config" / "agent-shell" / "agents"
    agents.mkdir(parents=True)
    (agents / "sisyphus.md").write_text("You push a list up a hill.\n")
    work.mkdir()
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"reply": [{"json": reply} for reply in REPLIES]}))
    with Terminal("--planner", f"scripted:{script}", "--approve", "low", home=home, cwd=work) as person:

        def does(line: str, *seen: str) -> None:
            person.at_prompt()
            person.type(f"{line}\r")
            for pattern in seen:
                person.see(pattern)

        does("hello", "Hello to you")
        does(".role explain", "role: explain")
        does("what is TCP", "counts what it sends")
        does(".session", "goals +2")
        does("and then", "First answer")
        does("and then what", "Second answer")
        does(".info session", "goals +4")
        does(".compress session", "[Cc]ompressed")
        does(".agent sisyphus", "sisyphus")
        does("push the list up the hill", "from the agent", "The agent is done", "completed")
        does(".exit agent", "agent")
        does(".info session", "goals +5")
        does(".info role", "explain")
        does(".exit")
        assert person.leaves() == 0
    (log,) = (home / "sessions").glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    goals = [event for event in events if event["type"] == "goal.finished"]
    assert [goal["status"] for goal in goals] == ["answered"] * 4 + ["completed"]
    changed = [(event["key"], event["to"]) for event in events if event["type"] == "session.changed"]
    assert [each for each in changed if each[0] in ("role", "agent")] == [
        ("role", "explain"), ("agent", "sisyphus"), ("agent", ""),
    ]  # fmt: skip
    assert [event["type"] for event in events].count("compression.finished") == 1
    assert events[-1]["type"] == "session.finished"


@pytest.mark.thorough
def test_a_theme_set_on_the_way_colours_code_from_then_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"reply": [{"json": chat(CODE)}] * 2}))
    painted = []
    with Terminal("--planner", f"scripted:{script}", home=home, cwd=tmp_path) as person:
        for theme in ("dark", "light"):
            person.at_prompt()
            person.type(f":set theme {theme}\r")
            person.see(f"theme = {theme}")
            person.at_prompt()
            person.type(CTRL_U + f"show me {theme}\r")
            person.see(f"show me {theme}.*That is all.*answered")
            painted.append(next(line for line in reversed(person.raw.splitlines()) if b"getcwd" in line))
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert painted[0] != painted[1]
