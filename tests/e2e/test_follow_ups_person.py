"""Goals that follow each other at the terminal: each goes on with all that was said before it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.test_repl_person import events
from tests.support.terminal import Terminal


def test_three_follow_ups_in_a_row(home: Path, work: Path) -> None:
    (work / "src").mkdir(exist_ok=True)
    (work / "src" / "a.py").write_text("a\n")
    (work / "src" / "b.txt").write_text("b\n")
    with Terminal("--planner", "offline", home=home, cwd=work) as person:
        person.at_prompt()
        for goal in ("find the python files", "only the ones in src", "sort them by size", "the first 3"):
            person.type(f"{goal}\r")
            person.at_confirmation()
            person.type("\r")
            person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    run = [event["command"] for event in events(home) if event["type"] == "command.started"]
    assert run[1] == "find src -type f -name '*.py'"
    assert run[-1] == run[1] + r" -printf '%s %p\n' | sort -n | cut -d' ' -f2- | head -n 3"
