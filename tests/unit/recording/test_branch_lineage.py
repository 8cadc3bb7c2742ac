"""Chains of branches are followed to their end, and no further than is bearable; whatever a log says, nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import LogScrubbed, SessionStarted
from agent.protocol.outcomes import Origin
from agent.protocol.records import Record, encode
from agent.recording.branching import MOST_BRANCHES, Lineage, lineage, records, turns
from agent.recording.chained_lines import line_hash
from agent.recording.fold import goals
from agent.recording.reader import list_sessions


def write(folder: Path, name: str, *events: Event) -> list[str]:
    """A log of these events; the hashes of its lines."""
    hashes: list[str] = []
    with (folder / f"2030-01-01-{name}.jsonl").open("wb") as file:
        for seq, event in enumerate(events, 1):
            goal_id = f"{name}.g" if isinstance(event, (GoalStarted, GoalFinished)) else ""
            line = encode(Record(v=1, seq=seq, time="t", session=name, run="r", goal_id=goal_id, event=event))
            hashes.append(line_hash(line))
            file.write(line)
    return hashes


def started(name: str, origin: Origin | None = None) -> SessionStarted:
    return SessionStarted(session_id=name, origin=origin)


def goal(text: str) -> tuple[GoalStarted, GoalFinished]:
    return GoalStarted(goal=text), GoalFinished(goal=text, status="answered", exit_code=0)


def of(folder: Path, name: str) -> Lineage:
    (session,) = [session for session in list_sessions(str(folder)) if session.session_id == name]
    return lineage(str(folder), session)


def texts(line: Lineage) -> list[str]:
    return [each.goal for each in goals(records(line))]


def chain(folder: Path, count: int) -> str:
    origin = None
    for number in range(count):
        hashes = write(folder, f"s{number}", started(f"s{number}", origin), *goal(f"goal {number}"))
        origin = Origin(session=f"s{number}", seq=3, hash=hashes[2], log=hashes[0])
    return f"s{count - 1}"


@pytest.mark.thorough
def test_a_thousand_branches(tmp_path: Path) -> None:
    line = of(tmp_path, chain(tmp_path, MOST_BRANCHES + 1))
    assert line.notes == ()
    assert texts(line) == [f"goal {number}" for number in range(MOST_BRANCHES + 1)]


@pytest.mark.thorough
def test_more_than_that_is_left_out_and_said(tmp_path: Path) -> None:
    line = of(tmp_path, chain(tmp_path, MOST_BRANCHES + 5))
    assert len(line.parts) == MOST_BRANCHES + 1
    assert "left out" in line.notes[0]
    assert texts(line)[-1] == f"goal {MOST_BRANCHES + 4}"


def test_a_circle_ends(tmp_path: Path) -> None:
    """Nobody can make one with hashes; a made-up log names none."""
    write(tmp_path, "one", started("one", Origin(session="two", seq=3)), *goal("a"))
    write(tmp_path, "two", started("two", Origin(session="one", seq=3)), *goal("b"))
    line = of(tmp_path, "one")
    assert texts(line) == ["b", "a"]
    assert "branched from itself" in line.notes[0]


def test_a_session_of_itself(tmp_path: Path) -> None:
    write(tmp_path, "one", started("one", Origin(session="one", seq=3)), *goal("a"))
    assert texts(of(tmp_path, "one")) == ["a"]


def test_only_the_records_up_to_the_branch_count(tmp_path: Path) -> None:
    hashes = write(tmp_path, "one", started("one"), *goal("a"), *goal("later"))
    write(tmp_path, "two", started("two", Origin(session="one", seq=3, hash=hashes[2])), *goal("b"))
    assert texts(of(tmp_path, "two")) == ["a", "b"]


def test_an_origin_that_was_only_run_again_gives_nothing(tmp_path: Path) -> None:
    hashes = write(tmp_path, "one", started("one"), *goal("a"))
    write(tmp_path, "two", started("two", Origin(session="one", seq=3, hash=hashes[2], how="replay")), *goal("b"))
    assert texts(of(tmp_path, "two")) == ["b"]


def test_another_log_of_that_name_is_not_taken_for_it(tmp_path: Path) -> None:
    write(tmp_path, "one", started("one"), *goal("made up"))
    write(tmp_path, "two", started("two", Origin(session="one", seq=3, hash="0" * 64)), *goal("b"))
    line = of(tmp_path, "two")
    assert texts(line) == ["b"]
    assert "is not what it was" in line.notes[0]


def test_a_scrubbed_origin_still_counts(tmp_path: Path) -> None:
    scrubbed = LogScrubbed(secrets={"token": 1}, lines=1, first_line=2, before="0" * 64)
    write(tmp_path, "one", started("one"), *goal("a"), scrubbed)
    write(tmp_path, "two", started("two", Origin(session="one", seq=3, hash="1" * 64)), *goal("b"))
    line = of(tmp_path, "two")
    assert texts(line) == ["a", "b"]
    assert "scrubbed" in line.notes[0]


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "/", "x" * 5000, "\x1b[31m"])
def test_a_name_that_is_no_name_is_not_there(tmp_path: Path, name: str) -> None:
    write(tmp_path, "two", started("two", Origin(session=name, seq=1)), *goal("b"))
    line = of(tmp_path, "two")
    assert texts(line) == ["b"]
    assert "no session can have" in line.notes[0]


def test_where_to_branch_is_known_of_each_goal(tmp_path: Path) -> None:
    hashes = write(tmp_path, "one", started("one"), *goal("a"))
    write(tmp_path, "two", started("two", Origin(session="one", seq=3, hash=hashes[2], log=hashes[0])), *goal("b"))
    first, second = turns(of(tmp_path, "two")).turns
    assert (first.before.session, first.before.seq, first.before.hash) == ("one", 1, hashes[0])
    assert (first.after.session, first.after.seq, first.after.hash) == ("one", 3, hashes[2])
    assert (second.before.session, second.before.seq) == ("two", 1)
    assert (second.after.session, second.after.seq) == ("two", 3)
    assert first.after.log == hashes[0]
