"""What nobody understood is told as that: on the screen, in the log, in lists, and to scripts."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.test_repl_person import events, statuses
from tests.support.terminal import Terminal


def test_it_is_marked_and_listed(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work) as person:
        person.at_prompt()
        person.type("zorble the frobnitz\r")
        person.see("I have no command for exactly this")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["not_understood"]
    assert [event["exit_code"] for event in events(home) if event["type"] == "goal.finished"] == [7]
    with Terminal("sessions", "list", "--status", "not_understood", home=home, cwd=work) as person:
        person.see("zorble the frobnitz")
        assert person.leaves() == 0
    with Terminal("--planner", "offline", "zorble the frobnitz", home=home, cwd=work) as person:
        assert person.leaves() == 7
