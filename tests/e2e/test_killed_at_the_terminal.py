"""The REPL is killed without warning at every stage of a goal, again and again in one session: no line is lost, nothing lives on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config.paths import state_dir
from agent.recording.integrity.verify import Checked, verify_folder
from tests.scenarios.program import assert_paired, until
from tests.support.processes import marked
from tests.support.terminal import Terminal

MARK = f"KILLED_{os.getpid()}"
FLOOD = "for i in 1 2 3 4 5 6 7 8 9; do seq 10000 10300; sleep 60; done"


def asked(person: Terminal) -> None:
    person.type("do it\r")
    person.at_confirmation("stat")


def run(text: str, sign: str) -> Callable[[Terminal], None]:
    def act(person: Terminal) -> None:
        person.type(f"!{text}\r")
        person.at_confirmation(text[:8])
        person.type("\r")
        person.see(sign)

    return act


STAGES: dict[str, Callable[[Terminal], None]] = {
    "idle": lambda person: None,
    "asked": asked,
    "quiet": run("echo be''gun; sleep 600", "begun"),
    "children": run("sleep 600 & sleep 600 & echo be''gun; wait", "begun"),
    "flood": run(FLOOD, r"\n\d{5}"),
}


@pytest.mark.thorough
def test_killed_at_every_stage(tmp_path: Path) -> None:
    logs, heads = tmp_path / "sessions", os.path.join(state_dir({"HOME": str(tmp_path)}), "heads")
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"reply": [{"json": {"mode": "command", "command": "stat ."}}]}))

    def start() -> Terminal:
        options = ("--planner", f"scripted:{script}", "--session-id", "one")
        return Terminal(*options, home=tmp_path, cwd=tmp_path, **{MARK: "1"})

    def checked() -> Checked:
        (found,) = verify_folder(str(logs), heads)
        assert found.problems == ()
        return found

    before = b""
    for stage, act in STAGES.items():
        with start() as person:
            person.at_prompt()
            act(person)
            person.process.kill(signal.SIGKILL)
            while person.pump():
                pass
        until(lambda: not marked(MARK), lambda: f"{stage} left behind: {marked(MARK)}")  # noqa: B023
        (log,) = logs.glob("*.jsonl")
        data = log.read_bytes()
        assert data.startswith(before), f"lines were lost at {stage}"
        before = data[: data.rfind(b"\n") + 1]
        checked()
    with start() as person:
        person.see("4 goals so far")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert checked().state == "whole"
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert_paired(events)
    assert [event["reason"] for event in events if event["type"] == "session.finished"] == ["crashed"] * 5 + ["closed"]
    assert [event["status"] for event in events if event["type"] == "goal.finished"] == ["interrupted"] * 4
