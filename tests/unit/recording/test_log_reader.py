"""Logs as input: torn, broken, hostile, many."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.errors import IoError
from agent.protocol.events.known import UnknownEvent
from agent.protocol.events.session import Notice
from agent.protocol.records import Record, encode
from agent.recording import chained_lines, reader
from agent.recording.reader import BadLine, list_sessions, read_log, read_records
from tests.support.tries import tries

GOOD = b'{"v":1,"seq":1,"time":"t","session":"s","run":"","goal_id":"","type":"notice","text":"x"}\n'


def test_broken_lines_are_named_and_the_rest_is_read(tmp_path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD + b"not json\n" + b"\xff\xfe\n" + b"[]\n" + b'{"v":"one"}\n' + GOOD + b'{"v":1,"se')
    found = list(read_log(str(path)))
    assert [type(line).__name__ for line in found] == [
        "Record", "BadLine", "BadLine", "BadLine", "BadLine", "Record", "BadLine",
    ]  # fmt: skip
    assert [(line.number, line.torn) for line in found if isinstance(line, BadLine)] == [
        (2, False), (3, False), (4, False), (5, False), (7, True),
    ]  # fmt: skip
    assert len(list(read_records(str(path)))) == 2


def test_events_of_a_newer_version_survive(tmp_path) -> None:
    path = tmp_path / "log"
    line = b'{"v":9,"seq":1,"time":"t","session":"s","run":"","goal_id":"","type":"new.thing","x":[1,{"y":2}]}\n'
    path.write_bytes(line)
    (record,) = read_log(str(path))
    assert record.event == UnknownEvent("new.thing", {"x": [1, {"y": 2}]})
    assert encode(record) == line


def test_an_endless_line_is_skipped_without_being_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    monkeypatch.setattr(chained_lines, "MAX_LINE", 1000)
    path = tmp_path / "log"
    path.write_bytes(GOOD + b"x" * 5500 + b"\n" + GOOD)
    first, second, third = read_log(str(path))
    assert isinstance(first, Record)
    assert (second.number, second.reason) == (2, "longer than 1,000 bytes")
    assert isinstance(third, Record)


@settings(max_examples=tries(150), deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(tmp_path_factory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_bytes(data)
    for line in read_log(str(path)):
        assert isinstance(line, (Record, BadLine))


@settings(max_examples=tries(100), deadline=None)
@given(st.text())
def test_written_records_are_read_back(text: str) -> None:
    record = Record(v=1, seq=1, time="t", session="s", run="r", goal_id="g", event=Notice(text=text))
    clean = text.encode("utf-8", "replace").decode()
    assert reader.record_in(encode(record)).event == Notice(text=clean)


def test_huge_numbers_are_no_trouble(tmp_path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'{"v":1,"seq":' + b"9" * 10_000 + b',"type":"notice","text":"x"}\n' + GOOD)
    assert [type(line).__name__ for line in read_log(str(path))][-1] == "Record"


def test_sessions_are_listed_oldest_first_and_nothing_else(tmp_path) -> None:
    for number, name in enumerate(["2026-01-02-b.jsonl", "2026-01-01-z.jsonl", "2026-01-02-a.jsonl"]):
        (tmp_path / name).write_bytes(GOOD)
        os.utime(tmp_path / name, (number, number))
    for name in ("README.md", ".gitkeep", "2026-01-01-.jsonl", "x.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "2026-01-03-link.jsonl").symlink_to(tmp_path / "README.md")
    (tmp_path / "2026-01-03-dir.jsonl").mkdir()
    found = list_sessions(str(tmp_path))
    assert [session.session_id for session in found] == ["z", "b", "a"]
    assert found[0].size == len(GOOD)
    assert list_sessions(str(tmp_path / "none")) == []


def test_what_is_not_there_is_said(tmp_path) -> None:
    with pytest.raises(IoError):
        list(read_log(str(tmp_path / "none")))
    with pytest.raises(IoError):
        list(read_log("/dev/null"))
    (tmp_path / "file").touch()
    with pytest.raises(IoError):
        list_sessions(str(tmp_path / "file"))
