"""A person with jobs: sends a command to the background, looks at it, is asked before leaving."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.program import until
from tests.support.needs import needing
from tests.support.terminal import CTRL_C, CTRL_D, CTRL_Z, Terminal
from tests.unit.execution.running import Marker

WAITS = "echo begun; while ! test -e go; do sleep 0.02; done; printf 'half\\rwhole \\033[31mred\\033[0m\\n'"


@pytest.fixture
def marker() -> Iterator[Marker]:
    marker = Marker()
    yield marker
    marker.end()


@pytest.fixture
def person(tmp_path: Path, marker: Marker) -> Iterator[Terminal]:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".config" / "agent-shell").mkdir(parents=True)
    work.mkdir()
    with Terminal("--planner", "offline", home=home, cwd=work, columns=160, rows=40, **{marker.name: "1"}) as terminal:
        yield terminal


def own(person: Terminal, command: str) -> None:
    """A command of the person's own, confirmed."""
    person.at_prompt()
    person.type(f"!{command}\r")
    person.at_confirmation(command.partition(" ")[0])
    person.type("\r")


def events(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted((tmp_path / "home/sessions").glob("*.jsonl")) for line in path.open()]


def jobs_told(tmp_path: Path) -> list[tuple[str, int, str]]:
    return [
        (event["type"], event["job_id"], event.get("outcome", event.get("how", "")))
        for event in events(tmp_path)
        if event["type"].startswith("job.")
    ]


def test_ctrl_z_then_look_then_it_ends(person: Terminal, tmp_path: Path) -> None:
    own(person, WAITS)
    person.see("\nbegun\n")
    person.type(CTRL_Z)
    person.see("\nit continues in the background as job 1; the shell stays as it was; see :jobs\n")
    person.at_prompt()
    person.type(":jobs\r")
    person.see("1  running, pid [0-9]+  echo begun; while.*for [0-9.]+s.*output  .*\\(0\\s+bytes\\)")
    own(person, "touch go")
    person.see("completed")
    [log] = (tmp_path / "home/.local/state/agent-shell/jobs").iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    until(lambda: log.read_bytes().endswith(b"\n"))
    person.at_prompt()
    person.type(":jobs 1\r")
    person.see("job +1, (ended|running).*\nwhole red\n")
    person.see("job 1 ended with exit 0: echo begun")
    person.at_prompt()
    person.type("exit\r")
    assert person.leaves() == 0
    assert jobs_told(tmp_path) == [("job.started", 1, "sent"), ("job.finished", 1, "ended")]
    handed = next(event for event in events(tmp_path) if event["type"] == "goal.finished")
    assert (handed["status"], handed["exit_code"], handed["message"]) == (
        "handed_off",
        0,
        "it continues in the background as job 1",
    )


def test_leaving_asks_and_kills_on_request(person: Terminal, tmp_path: Path, marker: Marker) -> None:
    own(person, "sleep 1000 &")
    person.see("job 1")
    own(person, "sleep 999 &")
    person.see("job 2")
    person.at_prompt()
    person.type(CTRL_D)
    person.see(
        "2 jobs are still running.*1  running.*sleep 1000 &.*2  running.*sleep 999 &.*\\[k\\]ill, \\[l\\]eave running, \\[c\\]ancel exit ❯"
    )
    person.type(CTRL_C)
    person.at_prompt()
    person.type("exit\r")
    person.see("ancel exit ❯$", where="line")
    person.type("\r")  # Enter alone decides nothing
    person.see("ancel exit ❯.*ancel exit ❯.*ancel exit ❯")
    person.type("k\r")
    assert person.leaves() == 0
    assert marker.survivors() == {}
    assert sorted(jobs_told(tmp_path)) == [
        ("job.finished", 1, "killed"),
        ("job.finished", 2, "killed"),
        ("job.started", 1, "left"),
        ("job.started", 2, "left"),
    ]


@pytest.mark.thorough
def test_leaving_leaves_alone_on_request(person: Terminal, tmp_path: Path, marker: Marker) -> None:
    own(person, "sleep 1000 &")
    person.see("job 1; see :jobs")
    person.at_prompt()
    person.type("exit\r")
    person.see("1 job is still running")
    person.see("ancel exit ❯$", where="line")
    person.type("l\r")
    person.see("job 1 keeps running: sleep 1000 &")
    assert person.leaves() == 0
    assert "sleep 1000 " in marker.survivors().values()
    assert jobs_told(tmp_path) == [("job.started", 1, "left"), ("job.finished", 1, "left")]


@pytest.mark.thorough
def test_kill_in_another_session(person: Terminal, tmp_path: Path, marker: Marker) -> None:
    own(person, "sleep 1000 &")
    person.see("job 1; see :jobs")
    person.at_prompt()
    person.type(":new\r")
    person.see("new session")
    person.at_prompt()
    person.type(":kill 2\r")
    person.see("no job called '2'")
    person.type(":kill 1\r")
    person.see("job 1  killed by SIGTERM, exit 143  sleep 1000 &")
    assert not any(line.startswith("sleep") for line in marker.survivors().values())
    person.at_prompt()
    person.type("exit\r")
    assert person.leaves() == 0
    assert jobs_told(tmp_path) == [("job.started", 1, "left"), ("job.finished", 1, "left")]


@pytest.mark.thorough
def test_a_hang_up_asks_nobody_and_leaves_jobs_alone(person: Terminal, marker: Marker) -> None:
    own(person, "sleep 1000 &")
    person.see("job 1; see :jobs")
    person.at_prompt()
    os.kill(person.process.pid, 1)
    assert person.leaves() == 129
    assert list(marker.survivors().values()) == ["sleep 1000 "]


@pytest.mark.thorough
@needing("less")
def test_a_pager_is_suspended_and_brought_back(person: Terminal, tmp_path: Path, marker: Marker) -> None:
    (tmp_path / "work" / "long.txt").write_text("".join(f"line {number}\n" for number in range(200)))
    own(person, "less long.txt")
    person.see("line 20.*long.txt", where="screen")
    person.type(CTRL_Z)
    person.see("suspended as job 1; `:fg 1` brings it back")
    person.at_prompt()
    person.type(":jobs\r")
    person.see("1  suspended, pid [0-9]+  less long.txt")
    person.at_prompt()
    before = len(person.raw)
    person.type(":fg\r")
    drawn = lambda: person.pump() and b"line 20" in person.raw[before:]  # noqa: E731 - it draws its screen anew
    until(drawn, lambda: f"{person.raw[before:]!r} {marker.survivors()}")
    person.type("q")
    person.see("job 1 ended with exit 0: less long.txt")
    person.at_prompt()
    person.type("exit\r")
    assert person.leaves() == 0
    assert jobs_told(tmp_path) == [("job.started", 1, "sent"), ("job.finished", 1, "ended")]


@pytest.mark.thorough
def test_a_prompt_of_python_is_suspended_and_brought_back(person: Terminal, tmp_path: Path, marker: Marker) -> None:
    own(person, "python3 -q")
    person.see(">>>$", where="line")
    person.type("kept = 41\r")
    person.see("kept = 41\\s+>>>\\s*$")
    person.type(CTRL_Z)
    person.see(">>> *\nsuspended as job 1; `:fg 1` brings it back")
    person.at_prompt()
    pid = next(pid for pid, line in marker.survivors().items() if "python" in line and line.split()[1:] == ["-q"])
    state = Path(f"/proc/{pid}/stat")
    assert state.read_text().rpartition(")")[2].split()[0] == "T"
    person.type(":fg\r")
    until(lambda: person.pump() and state.read_text().rpartition(")")[2].split()[0] == "S")
    person.type("print(kept + 1)\r")
    person.see("\n42\n>>>\\s*$")
    person.type("exit()\r")
    person.see("job 1 ended with exit 0: python3 -q")
    person.at_prompt()
    person.type("exit\r")
    assert person.leaves() == 0
    assert jobs_told(tmp_path) == [("job.started", 1, "sent"), ("job.finished", 1, "ended")]
