"""Which goal a crash left open."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from agent.protocol.events.command import CommandOutput
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlanFinished, PlanProposed, PlanStepped
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionFinished, SessionStarted
from agent.protocol.records import Record, encode
from agent.protocol.replies import PlanStep
from agent.recording.left_open import LeftOpen, Offered, left_open, left_plan

STARTED = SessionStarted(session_id="one")
GOAL = GoalStarted(goal="make it")
DONE = GoalFinished(goal="make it", status="completed", exit_code=0)
OVER = SessionFinished()


def write(folder: Path, *events: Event, name: str = "one") -> Path:
    path = folder / f"2030-01-01-{name}.jsonl"
    with path.open("wb") as file:
        for seq, event in enumerate(events, 1):
            goal_id = "g" if isinstance(event, (GoalStarted, GoalFinished)) else ""
            file.write(encode(Record(v=1, seq=seq, time="t", session=name, run="", goal_id=goal_id, event=event)))
    return path


@pytest.mark.parametrize(
    "events",
    [
        (STARTED,),
        (STARTED, GOAL, DONE),
        (STARTED, GOAL, DONE, OVER),
        (STARTED, GOAL, OVER),
        (STARTED, GOAL, OVER, STARTED),
    ],
)
def test_nothing_was_left_open(tmp_path: Path, events: tuple[Event, ...]) -> None:
    write(tmp_path, *events)
    assert left_open(str(tmp_path)) is None


def test_the_newest_that_was(tmp_path: Path) -> None:
    write(tmp_path, STARTED, GOAL, name="old")
    os.utime(tmp_path / "2030-01-01-old.jsonl", (1, 1))
    write(tmp_path, STARTED, GOAL)
    write(tmp_path, STARTED, GOAL, DONE, OVER, name="later")
    assert left_open(str(tmp_path)) == LeftOpen("one", "make it", 2)
    assert left_open(str(tmp_path), besides="one") is None
    assert left_open(str(tmp_path), now=1e11) is None  # too long ago


def test_behind_a_lot_of_output(tmp_path: Path) -> None:
    flood = [CommandOutput(command_id="c", stream="stdout", data="x" * 50_000, offset=0.0)] * 30
    write(tmp_path, STARTED, GOAL, *flood)
    found = left_open(str(tmp_path))
    assert found is not None
    assert found.goal == "make it"


def test_a_torn_line_and_rubbish_do_not_hide_it(tmp_path: Path) -> None:
    path = write(tmp_path, STARTED, GOAL)
    with path.open("ab") as file:
        file.write(b"\xff\x00{[" + b"[" * 5000 + b'\n{"v":1,"seq"')
    assert left_open(str(tmp_path)) is not None


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, STARTED, GOAL)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert left_open(str(tmp_path)) is None
    assert left_open(str(tmp_path)) is not None


def test_no_folder_no_offer(tmp_path: Path) -> None:
    assert left_open(str(tmp_path / "none")) is None
    (tmp_path / "2030-01-01-pipe.jsonl").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "2030-01-01-fifo.jsonl")
    assert left_open(str(tmp_path)) is None


def test_offered_once_each(tmp_path: Path) -> None:
    offered = Offered(str(tmp_path / "state" / "offered.json"))
    assert offered.first_time(LeftOpen("one", "g", 2))
    assert not offered.first_time(LeftOpen("one", "g", 2))
    assert offered.first_time(LeftOpen("one", "g", 9))
    (tmp_path / "state" / "offered.json").write_text("rubbish")
    assert offered.first_time(LeftOpen("one", "g", 2))


def test_a_plan_that_was_left(tmp_path: Path) -> None:
    steps = (PlanStep(goal="a", command="ls"), PlanStep(goal="b", command="ls"))
    proposed = PlanProposed(plan=1, planned=steps)
    begun = PlanStepped(plan=1, step=1, total=2, state="begun", goal="a", command="ls", cwd="/w")
    stopped = PlanFinished(plan=1, outcome="stopped", done=1, total=2, left=("b",))
    done = PlanFinished(plan=1, outcome="done", done=2, total=2)
    assert left_plan(str(tmp_path), "/w") == left_plan(str(tmp_path / "none"), "/w") == ""
    write(tmp_path, STARTED, GOAL, proposed, done, DONE, OVER, name="done")
    assert left_plan(str(tmp_path), "/w") == ""
    path = write(tmp_path, STARTED, GOAL, proposed, begun, stopped, DONE, OVER, name="left")
    write(tmp_path, STARTED, GOAL, DONE, OVER, name="later")
    assert left_plan(str(tmp_path), "/w") == "left"
    assert left_plan(str(tmp_path), "/elsewhere") == ""
    assert left_plan(str(tmp_path), "/w", besides="left") == ""
    assert left_plan(str(tmp_path), "/w", now=path.stat().st_mtime + 30 * 24 * 3600) == ""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # somebody writes it
        assert left_plan(str(tmp_path), "/w") == ""
    path.write_bytes(b"\x00 no log\n")
    assert left_plan(str(tmp_path), "/w") == ""
