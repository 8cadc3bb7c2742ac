"""Clock, session ids and file names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import InvalidRequest
from agent.recording.envelope import SystemClock
from agent.recording.naming import check_id, file_name, find_log, new_id, parse_name
from tests.support.each import each


def test_the_clock_tells_utc_with_microseconds() -> None:
    clock = SystemClock()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", clock.now())
    assert clock.monotonic() <= clock.monotonic()


def test_new_ids_are_valid_sort_by_time_and_differ() -> None:
    early, late = new_id("2026-03-04T09:59:59.000000Z"), new_id("2026-03-04T10:00:00.000000Z")
    assert early < late
    assert check_id(early) == early
    assert len({new_id("2026-03-04T10:00:00.000000Z") for _ in range(200)}) == 200


@each("good", ["a", "audit-one", "A.b_c-9", "x" * 64, "-", "_"])
def test_ids_that_can_be_file_names(good: str) -> None:
    assert check_id(good) == good


@each(
    "bad",
    ["", ".", "..", ".hidden", "../x", "a/b", "a\\b", "a b", "a\n", "a\0", "é", "x" * 65, "a*", "~", "$HOME", "%2e"],
)
def test_ids_that_cannot(bad: str) -> None:
    with pytest.raises(InvalidRequest):
        check_id(bad)


@given(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", fullmatch=True))
def test_names_are_read_back_as_they_were_made(session_id: str) -> None:
    assert parse_name(file_name("2026-03-04T10:00:00.000000Z", session_id)) == ("2026-03-04", session_id)


@given(st.text())
def test_any_other_name_is_no_log(name: str) -> None:
    parsed = parse_name(name)
    assert parsed is None or file_name(parsed[0] + "T", parsed[1]) == name


def test_a_log_is_found_by_its_whole_id(tmp_path) -> None:
    for name in (
        "2026-01-01-one.jsonl",
        "2026-01-02-audit-one.jsonl",
        "2026-01-03-one.jsonl.bak",
        "2026-01-04-one.jsonl",
    ):
        (tmp_path / name).touch()
    assert find_log(str(tmp_path), "one") == str(tmp_path / "2026-01-04-one.jsonl")
    assert find_log(str(tmp_path), "audit") is None
