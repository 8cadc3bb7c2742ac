"""A person watches the repo agent at a real terminal: looks at what is written, answers a question, stops it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.program import World
from tests.support.terminal import CTRL_C, Terminal
from tests.support.work_world import TASKS, UNATTENDED, WorkWorld, call, ending, feature, reply, with_status, write

QUESTION = reply("I have to ask", call("ask_question", question_text="Cents or euros?"))


class Unused:
    """No server: the script answers."""

    base_url = ""


@pytest.fixture
def project(tmp_path: Path) -> WorkWorld:
    world = World(tmp_path)
    world.sessions = world.home / "sessions"
    return WorkWorld(world, Unused())  # type: ignore[arg-type]


def at_terminal(project: WorkWorld, *words: str, replies: list[dict[str, Any]], delay: float = 0.0) -> Terminal:
    """The program in the checkout; the model gives these replies, the last one after `delay` seconds."""
    script = project.world.base / "script.json"
    script.write_text(
        json.dumps({"reply": [{"json": each, "delay": delay if each is replies[-1] else 0.0} for each in replies]})
    )
    own = ("HOME", "PATH", "LANG", "AGENT_SESSION_DIR")
    environ = {name: value for name, value in project.world.environ().items() if name not in own}
    planner = ("--planner", f"scripted:{script}")
    return Terminal(*words, *planner, home=project.world.home, cwd=project.repo, rows=40, **environ)


@pytest.mark.thorough
def test_what_is_written_is_seen_first_and_the_call_that_runs_is_marked(project: WorkWorld) -> None:
    slow = "import time\ntime.sleep(1)\n"
    project.put({"scripts/run_tests.py": slow})
    project.commit("slow tests")
    project.git("push", "-q")
    replies = [
        reply("Write it\nTest it", write("TASKS.md", with_status(TASKS, 1)), call("run_tests"), call("list_files")),
        QUESTION,
    ]
    with at_terminal(project, "work", "--approve", "low", replies=replies) as person:
        person.see(r"❯ git worktree add")
        person.type("\r")
        person.see(r"task 1 · Prices\n +agent/task-1 from main in\s.*plan · Write it\n +Test it")
        person.see(r"│ -Status: todo.*write this file\? \[y/N", where="text")
        person.type("y\r")
        person.see(r"✓ write_file  TASKS.md")
        person.see(r"❯ .*python3 scripts/\s*run_tests.py")
        person.type("\r")
        person.see(r"✓ run_tests.*✓ list_files.*\? Cents or euros\?")
        assert "● run_tests".encode() in person.raw and "○ list_files".encode() in person.raw
        person.see(r"answer, or Enter alone")
        person.type("\r")
        assert person.leaves() == 7


@pytest.mark.thorough
def test_an_answer_at_the_prompt_goes_on(project: WorkWorld) -> None:
    replies = [QUESTION, *feature(1, 1), *feature(1, 2), ending(1)]
    with at_terminal(project, "work", *UNATTENDED, replies=replies) as person:
        person.see(r"answer, or Enter alone to answer later ❯")
        person.type("Euros\r")
        person.see(r"✓ task 1 Prices · for review.*2 cycles · 1 task for review")
        assert person.leaves() == 0
    assert "Euros" in [each["goal"] for each in project.world.goals()]
    assert len(project.world.logs()) == 1


def test_at_the_goal_prompt_one_cycle_and_back(project: WorkWorld) -> None:
    replies = [QUESTION]
    with at_terminal(project, "--approve", "medium", replies=replies) as person:
        person.at_prompt()
        person.type(":work\r")
        person.see(r"task 1 · Prices.*\? Cents or euros\?.*answer: :work 1 ANSWER")
        person.at_prompt()
        person.type(":work 2 Euros\r")
        person.see("a question that waits")
        person.type("exit\r")
        assert person.leaves() == 0
    assert len(project.world.logs()) == 2


def test_ctrl_c_stops_it_and_says_how_to_go_on(project: WorkWorld) -> None:
    replies = [reply("Write it", write("shop/a.py", "a = 1\n")), QUESTION]
    with at_terminal(project, "work", *UNATTENDED, replies=replies, delay=600.0) as person:
        person.see(r"✓ write_file  shop/a.py")
        person.see("thinking")
        person.type(CTRL_C)
        person.see(r"– task 1 Prices · stopped.*agent-shell work --task 1` goes on")
        assert person.leaves() == 130
