"""Killed without warning at any stage: the log stays readable, is closed off at the next opening, and nothing lives on."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.scenarios.program import World, assert_paired, chat, command, envelopes, until

FLOOD = "seq 100000000"


def killed_at(world: World, stage: str) -> list[dict[str, object]]:
    """Start a session called "one", kill the program at `stage`, and give back what the log holds then."""
    line = {"flood": FLOOD, "quiet": "echo begun; sleep 600"}.get(stage, "echo done")
    planner = world.scripted(command(line), delay=600 if stage == "thinking" else 0)
    process = world.start(
        *planner, "--approve", "low", "--session-id", "one", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    if stage != "idle":
        process.stdin.write(b"do it\n")
        process.stdin.flush()
    sign = {"thinking": "planner.started", "idle": "session.started"}.get(stage, "command.output")
    if stage == "between":
        sign = "run.finished"
    until(lambda: sign in world.types())
    process.kill()
    process.communicate()
    world.no_orphans()
    (log,) = world.logs()
    return envelopes(log.read_bytes())


@pytest.mark.few(1)
@pytest.mark.parametrize("stage", ["idle", "thinking", "quiet", "flood", "between"])
def test_killed_at_every_stage(world: World, stage: str) -> None:
    before = killed_at(world, stage)
    ended = world.run(*world.scripted(chat("back")), "--session-id", "one", "go on")
    assert (ended.code, ended.stdout.strip()) == (0, "back")
    events = world.events()
    assert events[: len(before)] == before
    assert_paired(events)
    assert [event["reason"] for event in events if event["type"] == "session.finished"] == ["crashed", "closed"]
    statuses = [event["status"] for event in events if event["type"] == "goal.finished"]
    first = {"idle": [], "between": ["planner_error"]}.get(stage, ["interrupted"])
    assert statuses == [*first, "answered"]
    if stage in ("quiet", "flood"):
        (ran,) = next(event for event in events if event["type"] == "goal.finished")["commands"]
        assert (ran["outcome"], ran["run"]) == ("ran", FLOOD if stage == "flood" else "echo begun; sleep 600")
        assert ran["stdout"].startswith("1\n2\n3\n" if stage == "flood" else "begun\n")
    said = "ended without warning" in ended.stderr
    assert said == (stage in ("thinking", "quiet", "flood"))


@pytest.mark.few(1)
@pytest.mark.parametrize("cut", [1, 2, 40, 400])
def test_a_torn_last_line_is_closed_off(world: World, cut: int) -> None:
    """A power cut can tear the last line anywhere."""
    killed_at(world, "quiet")
    (log,) = world.logs()
    data = log.read_bytes()
    os.truncate(log, len(data) - cut)
    ended = world.run(*world.scripted(chat("back")), "--session-id", "one", "go on")
    assert ended.code == 0, ended.stderr
    whole = [json.loads(line) for line in log.read_bytes().splitlines() if _is_json(line)]
    assert len(log.read_bytes().splitlines()) - len(whole) <= 1
    assert_paired(whole)
    assert [event["status"] for event in whole if event["type"] == "goal.finished"] == ["interrupted", "answered"]


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def test_the_planner_is_told_what_was_cut_off(world: World) -> None:
    killed_at(world, "quiet")
    world.run("--planner", "offline", "--session-id", "one", "help")
    log = world.logs()[0].read_text()
    assert log.count('"type":"command.finished"') == 1


@pytest.mark.thorough
def test_a_second_crash_right_after_the_first(world: World) -> None:
    killed_at(world, "quiet")
    process = world.start("--planner", "offline", "--session-id", "one", stdin=subprocess.PIPE)
    until(lambda: world.types().count("session.started") == 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert world.run(*world.scripted(chat("back")), "--session-id", "one", "go on").code == 0
    events = world.events()
    assert_paired(events)
    assert [event["reason"] for event in events if event["type"] == "session.finished"] == [
        "crashed",
        "crashed",
        "closed",
    ]


@pytest.mark.thorough
def test_a_log_full_of_rubbish_is_no_trap(world: World) -> None:
    killed_at(world, "quiet")
    (log,) = world.logs()
    with log.open("ab") as file:
        file.write(b"\x00\xff rubbish\n[1,2]\n" + b"[" * 5000 + b'\n{"v":1}\n\n')
    ended = world.run(*world.scripted(chat("back")), "--session-id", "one", "go on")
    assert ended.code == 0, ended.stderr
    assert "interrupted" in [json.loads(line).get("status") for line in log.read_bytes().splitlines() if _is_json(line)]
