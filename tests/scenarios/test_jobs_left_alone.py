"""Without a terminal nobody can be asked: jobs are left alone, and that is said on standard error."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import World, until

WAITS = "(while ! test -e go; do sleep 0.02; done; echo later) & true"


def end_of(world: World) -> list[str]:
    """What was left running, which is ended now."""
    left = world.survivors()
    for pid in left:
        with contextlib.suppress(ProcessLookupError):  # what was seen may just have ended
            os.kill(pid, signal.SIGKILL)
    until(lambda: not world.survivors())
    return [line.strip() for line in left.values()]


def test_exec_leaves_its_job_alone_and_says_so(world: World) -> None:
    ended = world.run("exec", "--approve", "medium", "sleep 1000 & echo out")
    assert (ended.code, ended.stdout) == (0, "out\n")
    assert "it left a process running in the background: job 1 · pid " in ended.stderr
    assert "its output goes to " in ended.stderr
    assert "job 1 keeps running: sleep 1000 & echo out" in ended.stderr
    assert end_of(world) == ["sleep 1000"]
    assert [event["outcome"] for event in world.events() if event["type"] == "job.finished"] == ["left"]
    assert world.goal()["status"] == "completed"


@pytest.mark.thorough
def test_an_ordinary_user_has_jobs_too(ordinary: OrdinaryWorld) -> None:
    ended = ordinary.run("exec", "--json", "--approve", "medium", "while :; do echo tick; sleep 0.05; done & echo out")
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    [started] = [event for event in events if event["type"] == "job.started"]
    log = Path(started["log_path"])
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    until(lambda: log.read_text().count("tick\n") > 3)
    assert end_of(ordinary)


@pytest.mark.thorough
def test_lines_from_a_pipe_can_list_and_end_jobs(world: World) -> None:
    lines = "!sleep 1000 &\n!sleep 999 &\n:jobs\n:kill 1\n:jobs 2\n"
    ended = world.run("--approve", "medium", stdin=lines.encode())
    assert ended.code == 0
    assert "1  running, pid " in ended.stdout
    assert "2  running, pid " in ended.stdout
    assert "job       2, running" in ended.stdout
    assert "job 1 killed: sleep 1000 &" in ended.stderr
    assert "job 2 keeps running: sleep 999 &" in ended.stderr
    assert end_of(world) == ["sleep 999"]


@pytest.mark.thorough
def test_nothing_is_kept_on_disk_without_a_log(world: World) -> None:
    ended = world.run("exec", "--no-persist", "--approve", "medium", WAITS.replace("later", "secret"))
    (world.work / "go").touch()
    assert "its output is kept in memory" in ended.stderr
    until(lambda: not world.survivors())
    assert not [path for path in world.base.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_the_events_name_the_place_of_the_output(world: World) -> None:
    ended = world.run("exec", "--json", "--approve", "medium", WAITS)
    (world.work / "go").touch()
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    [started] = [event for event in events if event["type"] == "job.started"]
    assert (started["how"], started["command"]) == ("left", WAITS)
    (world.work / "go").touch()
    until(lambda: Path(started["log_path"]).read_text() == "later\n")
    until(lambda: not world.survivors())
