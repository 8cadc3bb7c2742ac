"""A signal that ends the program while a pager has the terminal ends the pager, too, and gives the terminal back."""

from __future__ import annotations

import os
import signal
import sys
import termios
from pathlib import Path

import pytest

from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.session import SessionStarted
from agent.protocol.records import Record, encode
from tests.support.needs import needing
from tests.support.processes import marked
from tests.support.terminal import ROOT, Terminal, fresh_modes

pytestmark = needing("less")
MARK = {"PAGER_TEST_MARK": "1"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    return tmp_path


def modes(person: Terminal) -> list[object]:
    return termios.tcgetattr(person.process.fileno())[:4]


def ends(person: Terminal, code: int, number: signal.Signals = signal.SIGTERM) -> None:
    os.kill(person.process.pid, number)
    while person.pump():
        pass
    assert modes(person) == fresh_modes()[:4]
    assert person.raw.count(b"\x1b[?1049h") == person.raw.count(b"\x1b[?1049l")
    assert person.leaves() == code
    assert [words for words in marked("PAGER_TEST_MARK").values() if "less" in words] == []


def test_the_repl(home: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=home, rows=12, **MARK) as person:
        person.at_prompt()
        person.type(":help\r")
        person.see("q: back", where="line")
        ends(person, 143)


def test_a_session_that_is_shown(home: Path) -> None:
    events = [SessionStarted(session_id="long")]
    for number in range(40):
        goal = f"goal {number}"
        events += [GoalStarted(goal=goal), GoalFinished(goal=goal, status="answered", exit_code=0)]
    lines = [
        encode(
            Record(v=1, seq=seq, time="2030-01-01T00:00:00+00:00", session="long", run="r", goal_id="g", event=event)
        )
        for seq, event in enumerate(events, 1)
    ]
    (home / "sessions" / "2030-01-01-long.jsonl").write_bytes(b"".join(lines))
    command = [sys.executable, str(ROOT / "agent_shell.py"), "sessions", "show"]
    with Terminal(home=home, cwd=home, rows=12, command=command, **MARK) as person:
        person.see(":$", where="line")
        ends(person, -signal.SIGTERM)
