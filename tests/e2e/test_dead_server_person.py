"""A model server that is not there."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.test_repl_person import events
from tests.support.terminal import Terminal


def test_the_offline_planner_goes_on_and_says_so(home: Path, work: Path) -> None:
    arguments = ("--planner", "openai", "--base-url", "http://127.0.0.1:9/v1", "--model", "gone")
    with Terminal(*arguments, home=home, cwd=work, columns=140, OPENAI_API_KEY="none", AGENT_MAX_RETRIES="0") as person:
        person.at_prompt()
        person.type("count the lines of note3.txt\r")
        person.see("the offline planner takes over")
        person.at_confirmation("wc -l note3.txt")
        person.type("\r")
        person.see("37 note3.txt")
        person.at_prompt()
        person.type("zorble the frobnitz\r")
        person.see("the offline planner does not know this goal either")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert {
        event["model"] for event in events(home) if event["type"] == "planner.finished" and event["reply"] != "error"
    } == {"offline"}
