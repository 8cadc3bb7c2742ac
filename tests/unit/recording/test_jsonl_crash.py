"""A crash at any byte leaves a log that can be read and continued."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.session import LogRepaired, Notice
from agent.protocol.records import Record
from agent.recording.logfile import LogFile
from agent.recording.reader import BadLine, read_log
from tests.support.tries import tries


def test_cut_at_every_byte_of_the_last_three_lines(opened) -> None:
    recorder = opened(redactor=None)
    for text in ("one", "two — ü", "three"):
        recorder.append(Notice(text=text))
    recorder._log.close()  # no farewell: this is a crash
    whole = Path(recorder.path).read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for size in range(ends[-4], len(whole) + 1):
        with open(recorder.path, "wb") as file:
            file.write(whole[:size])
        kept = sum(end <= size for end in ends)
        again = opened(redactor=None)
        again.append(GoalStarted(goal="after"))
        again.close()
        found = list(read_log(again.path))
        good = [line for line in found if isinstance(line, Record)]
        bad = [line for line in found if isinstance(line, BadLine)]
        torn = size not in ends
        lacks_only_its_end = size + 1 in ends
        assert [record.seq for record in good] == list(range(1, len(good) + 1)), size
        assert Path(again.path).read_bytes().startswith(whole[:size])
        assert len(bad) == (1 if torn and not lacks_only_its_end else 0), size
        assert len(again.repairs) == (1 if torn else 0)
        tail = [record.event for record in good[kept + lacks_only_its_end :]]
        assert isinstance(tail[0], LogRepaired) is torn
        assert [type(event).__name__ for event in tail[torn:]] == [
            "SessionFinished",
            "SessionStarted",
            "GoalStarted",
            "SessionFinished",
        ]


def test_an_empty_or_half_born_log_begins_anew(opened, tmp_path) -> None:
    place = tmp_path / "sessions" / "2026-03-04-a.jsonl"
    place.parent.mkdir()
    for content in (b"", b'{"v":1,"seq":1,"ti', b"\n\n", b"\x00\x00\x00"):
        place.write_bytes(content)
        recorder = opened()
        recorder.close()
        good = [line for line in read_log(str(place)) if isinstance(line, Record)]
        assert [record.seq for record in good] == list(range(1, len(good) + 1))
        assert not good[-2].event.resumed


def test_the_end_is_found_behind_long_and_broken_lines(tmp_path) -> None:
    path = tmp_path / "log"
    good = json.dumps({"v": 1, "seq": 41, "type": "notice", "text": "y" * 200_000})
    path.write_text(good + "\n" + "not json\n" + "[1]\n" + "z" * 300_000)
    log = LogFile(str(path))
    tail = log.tail()
    log.close()
    assert tail.last.seq == 41
    assert tail.broken == b"not json\n[1]\n" + b"z" * 300_000
    assert tail.open_end


@settings(max_examples=tries(60), deadline=None)
@given(garbage=st.binary(max_size=200))
def test_any_garbage_at_the_end_is_survived(tmp_path_factory, garbage: bytes) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_bytes(b'{"v":1,"seq":5,"type":"notice","text":"x"}\n' + garbage)
    log = LogFile(str(path))
    tail = log.tail()
    log.close()
    assert tail.last is not None
    assert (
        tail.line + b"\n" + (tail.broken or b"") + b"\n" * (not tail.open_end and tail.broken is not None)
        == path.read_bytes()
    )


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000])
def test_deep_nesting_is_a_bad_line(tmp_path, deep) -> None:
    path = tmp_path / "log"
    path.write_bytes(deep + b'\n{"v":1,"seq":1,"type":"notice","text":"x"}\n')
    first, second = read_log(str(path))
    assert isinstance(first, BadLine)
    assert isinstance(second, Record)
