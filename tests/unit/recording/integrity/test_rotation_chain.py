"""A session over several files: one chain, one lock, one story."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.protocol.errors import RecordingError
from agent.protocol.events.session import LogContinued, LogRotated, Notice
from agent.recording.reader import BadLine, list_sessions, read_log, read_records, read_session

SMALL = 1500


def rotated(place) -> list:
    place.write(20, rotate_bytes=SMALL)
    return place.files()


def test_the_chain_goes_through_all_files(place) -> None:
    paths = rotated(place)
    assert len(paths) > 3
    checked = place.one()
    assert (checked.state, checked.files) == ("whole", len(paths))
    (session,) = list_sessions(place.sessions)
    assert [os.path.basename(path) for path in session.paths[:3]] == [
        f"{session.date}-a.jsonl", f"{session.date}-a~2.jsonl", f"{session.date}-a~3.jsonl",
    ]  # fmt: skip
    assert session.size == sum(path.stat().st_size for path in paths)
    records = list(read_session(session))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert list(read_records(session.path)) == records
    ends = [list(read_log(str(path)))[-1].event for path in paths[:-1]]
    begins = [next(iter(read_log(str(path)))).event for path in paths[1:]]
    assert ends == [LogRotated(next=path.name) for path in paths[1:]]
    assert begins == [
        LogContinued(segment=number, previous=paths[number - 2].name) for number in range(2, len(paths) + 1)
    ]


def test_a_session_goes_on_in_its_last_file(place) -> None:
    before = rotated(place)
    place.write(1, rotate_bytes=1 << 20)
    assert place.files() == before
    assert place.one().state == "whole"
    assert list(read_records(str(before[0])))[-1].seq == place.one().events


def test_zero_never_rotates(place) -> None:
    place.write(50, rotate_bytes=0)
    assert len(place.files()) == 1


def test_the_first_file_keeps_the_lock(place) -> None:
    recorder = place.open(rotate_bytes=SMALL)
    place.fill(recorder, 20)
    with pytest.raises(RecordingError) as caught:
        place.open(rotate_bytes=SMALL)
    assert "another process is writing" in caught.value.message
    recorder.close()
    place.write(1)
    assert place.one().state == "whole"


@pytest.mark.parametrize("which", [0, 1, 2, -1])
def test_a_missing_file_is_missed(place, which) -> None:
    paths = rotated(place)
    paths[which].unlink()
    assert not any(each.sound for each in place.verify())


def test_a_foreign_file_is_seen(place) -> None:
    paths = rotated(place)
    place.write(20, session_id="b", rotate_bytes=SMALL)
    foreign = place.files()[len(paths) + 1]
    paths[1].write_bytes(foreign.read_bytes())
    problems = [each.text for checked in place.verify() for each in checked.problems if checked.session_id == "a"]
    assert any("another session" in text for text in problems), problems


def test_an_added_file_is_seen(place) -> None:
    place.write()
    (path,) = place.files()
    path.with_name(path.name.replace(".jsonl", "~2.jsonl")).write_bytes(path.read_bytes())
    assert not place.one().sound


def test_a_file_in_the_way_of_the_next_one_stops_no_log(place) -> None:
    recorder = place.open(rotate_bytes=SMALL)
    blocked = recorder.path.replace(".jsonl", "~2.jsonl")
    with open(blocked, "w") as file:
        file.write("precious")
    place.fill(recorder, 20)
    recorder.close()
    assert Path(blocked).read_text() == "precious"
    assert "in the place of the next one" in Path(recorder.path).read_text()
    os.unlink(blocked)
    assert place.one().state == "whole"


def test_a_line_that_no_record_names_is_told_with_its_file(place) -> None:
    paths = rotated(place)
    with open(paths[1], "ab") as file:
        file.write(b"junk\n")
    bad = [line for line in read_session(str(paths[0])) if isinstance(line, BadLine)]
    assert [line.path for line in bad] == [str(paths[1])]
    assert any(each.file == str(paths[1]) and "no record" in each.text for each in place.one().problems)


def test_a_crash_before_the_rotation_is_mended(place) -> None:
    recorder = place.open(rotate_bytes=SMALL)
    place.fill(recorder, 20)
    place.crash(recorder)
    again = place.open(rotate_bytes=SMALL)
    again.append(Notice(text="after"))
    again.close()
    assert place.one().state == "whole"
    types = [json.loads(line)["type"] for path in place.files() for line in path.read_bytes().splitlines()]
    assert types.count("session.finished") == 2


def test_nothing_is_written_into_a_file_that_is_none_of_ours(place) -> None:
    path = place.write()
    added = path.with_name(path.name.replace(".jsonl", "~2.jsonl"))
    added.write_bytes(path.read_bytes())
    before = added.read_bytes()
    place.write()
    assert added.read_bytes() == before
    assert not place.one().sound
    added.unlink()
    assert place.one().sound


def test_a_session_whose_first_file_is_gone_begins_anew_and_does_not_verify(place) -> None:
    first, second, *_ = rotated(place)
    first.unlink()
    before = second.read_bytes()
    place.write()
    assert second.read_bytes() == before
    assert not any(each.sound for each in place.verify())
