"""A record is found by its number in a few steps, whatever else stands in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.protocol.errors import IoError
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import LogScrubbed, Notice, SessionStarted
from agent.protocol.outcomes import Origin
from agent.protocol.records import Record, encode
from agent.recording import branching, reader
from agent.recording.branching import goals_in, lineage, records_of
from agent.recording.chained_lines import line_hash
from agent.recording.reader import line_of, list_sessions


def record(seq: int, event: Event) -> bytes:
    return encode(Record(v=1, seq=seq, time="t", session="old", run="r", goal_id=f"g{seq}", event=event))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=60),
    junk=st.dictionaries(
        st.integers(0, 59), st.sampled_from([b"\n", b"torn\n", b"\xff" * 90 + b"\n", b"{}\n", b"[]\n" * 40])
    ),
    step=st.integers(1, 3),
    near=st.sampled_from([1, 64, 1000]),
    torn=st.booleans(),
)
def test_every_record_is_found_and_no_other(
    tmp_path: Path, lengths: list[int], junk: dict[int, bytes], step: int, near: int, torn: bool
) -> None:
    lines = {
        1 + place * step: record(1 + place * step, Notice(text="x" * length)) for place, length in enumerate(lengths)
    }
    path = tmp_path / "log"
    parts = [junk.get(place, b"") + line for place, line in enumerate(lines.values())]
    path.write_bytes(b"".join(parts)[: -1 if torn else None])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_NEAR", near)
        found = {seq: line_of(str(path), seq) for seq in range(max(lines) + 3)}
    assert {seq: line.rstrip(b"\n") for seq, line in found.items() if line is not None} == {
        seq: line.rstrip(b"\n") for seq, line in lines.items()
    }


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(IoError):
        line_of(str(tmp_path / "none"), 1)
    (tmp_path / "empty").touch()
    assert line_of(str(tmp_path / "empty"), 1) is None


@pytest.fixture
def long_origin(tmp_path: Path) -> Path:
    """`old` of 2 MB with a goal every hundred records, and `new`, which was branched from it near its end."""
    lines = [record(1, SessionStarted(session_id="old"))]
    for seq in range(2, 3_000):
        lines.append(record(seq, GoalStarted(goal="x") if seq % 100 == 0 else Notice(text="y" * 700 + "goal.started")))
    (tmp_path / "2030-01-01-old.jsonl").write_bytes(b"".join(lines))
    origin = Origin(session="old", seq=2_900, hash=line_hash(lines[2_899]), log=line_hash(lines[0]))
    events: tuple[Event, ...] = (
        SessionStarted(session_id="new", origin=origin),
        GoalStarted(goal="own"),
        GoalFinished(goal="own", status="answered", exit_code=0),
    )
    new = [
        Record(v=1, seq=seq, time="t", session="new", run="r", goal_id="g", event=event)
        for seq, event in enumerate(events, 1)
    ]
    (tmp_path / "2030-01-02-new.jsonl").write_bytes(b"".join(map(encode, new)))
    return tmp_path


def test_a_long_origin_is_not_read_to_find_the_place(long_origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    monkeypatch.setattr(
        branching, "_is", lambda line, origin: seen.append(line) is None and line_hash(line) == origin.hash
    )
    new = list_sessions(str(long_origin))[-1]
    line = lineage(str(long_origin), new)
    assert [part.session.session_id for part in line.parts] == ["old", "new"] and not line.notes
    assert len(seen) == 1
    part = line.parts[0]
    by_reading = sum(isinstance(each.event, GoalStarted) for each in records_of(part))
    assert goals_in(part) == by_reading == 29
    assert list(records_of(branching.Part(part.session, "", 0))) == []
    assert [goals_in(branching.Part(part.session, "", upto)) for upto in (None, 0, 1, 99, 100, 101)] == [
        29,
        0,
        0,
        0,
        1,
        1,
    ]


def test_a_long_origin_that_was_scrubbed_or_changed_is_told_apart(long_origin: Path) -> None:
    path = long_origin / "2030-01-01-old.jsonl"
    new = list_sessions(str(long_origin))[-1]
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2_899] = record(2_900, GoalStarted(goal="[redacted]"))
    path.write_bytes(b"".join(lines))
    assert "is not what it was then" in lineage(str(long_origin), new).notes[0]
    note = record(3_000, LogScrubbed(secrets={"token": 1}, lines=1, first_line=2_900, before="0" * 64, proven=True))
    path.write_bytes(b"".join([*lines, note]))
    line = lineage(str(long_origin), new)
    assert "was scrubbed of secrets since" in line.notes[0] and len(line.parts) == 2
