"""A wall clock that is set back and forth while the program runs: order and durations do not depend on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.program import ROOT, World, assert_paired, chat, command

DRIVER = """
import sys, itertools
sys.path.insert(0, {root!r})
import agent.recording.envelope as clocks

TIMES = itertools.cycle({times!r})

class Jumping(clocks.SystemClock):
    def now(self):
        return next(TIMES)

clocks.SystemClock = Jumping
from agent.cli.entry import main
sys.exit(main())
"""
BACKWARDS = [f"2031-01-{day:02d}T00:00:00.000000Z" for day in range(28, 0, -1)]
WILD = [
    "2038-01-19T03:14:08.000000Z",
    "1970-01-01T00:00:00.000000Z",
    "2024-02-29T23:59:60.000000Z",
    "9999-12-31T23:59:59.999999Z",
]
STILL = ["2030-05-05T05:05:05.000000Z"]


class JumpingWorld(World):
    """The program with a clock that shows `times` in turn."""

    times: list[str] = STILL

    def words(self, *arguments: str | bytes) -> list[str | bytes]:
        driver = self.base / "driver.py"
        driver.write_text(DRIVER.format(root=str(ROOT), times=self.times))
        return [sys.executable, str(driver), *arguments]


@pytest.fixture
def jumping(tmp_path: Path) -> Iterator[JumpingWorld]:
    world = JumpingWorld(tmp_path / "jumping")
    yield world
    world.leave()


@pytest.mark.parametrize("times", [BACKWARDS, WILD, STILL], ids=["backwards", "wild", "still"])
@pytest.mark.few(1)
def test_order_and_durations(jumping: JumpingWorld, times: list[str]) -> None:
    jumping.times = times
    planner = jumping.scripted(command("sleep 0.2"), command("false"), chat("done"))
    ended = jumping.run(*planner, "--approve", "low", "do it")
    assert ended.code == 1, ended.stderr  # the last command failed
    events = jumping.events()  # checks that the sequence numbers rise
    assert_paired(events)
    assert {event["time"] for event in events} <= set(times)
    durations = [event["duration"] for event in events if "duration" in event]
    durations += [event["result"]["duration"] for event in events if event["type"] == "command.finished"]
    assert durations
    assert all(0 <= duration < 600 for duration in durations)
    (goal,) = jumping.goals()
    assert 0.2 <= goal["commands"][0]["duration"] <= goal["duration"]


@pytest.mark.thorough
def test_a_session_is_found_again_on_an_earlier_day(jumping: JumpingWorld) -> None:
    for time in ("2031-03-03T00:00:00.000000Z", "2029-03-03T00:00:00.000000Z"):
        jumping.times = [time]
        assert jumping.run("exec", "--approve", "low", "--session-id", "one", "true").code == 0
    (log,) = jumping.logs()
    assert log.name == "2031-03-03-one.jsonl"
    assert [goal["status"] for goal in jumping.goals()] == ["completed", "completed"]


@pytest.mark.thorough
def test_new_sessions_at_one_instant_are_different(jumping: JumpingWorld) -> None:
    for _ in range(3):
        assert jumping.run("exec", "--approve", "low", "true").code == 0
    assert len(jumping.logs()) == 3


@pytest.mark.thorough
def test_a_time_out_does_not_wait_for_the_wall_clock(jumping: JumpingWorld) -> None:
    jumping.times = BACKWARDS
    assert jumping.run("exec", "--approve", "low", "--command-timeout", "0.3", "sleep 600").code == 124
