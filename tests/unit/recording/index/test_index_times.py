"""Times of a log as the index reads them: this program's form, and what other writers make of RFC 3339."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.audit.queries.conditions import Conditions
from agent.audit.queries.listing import sessions
from agent.recording.index.access import LogIndex
from agent.recording.index.gather import Gatherer
from agent.recording.index.values import Session
from agent.recording.line import as_written, microseconds, read_line

MOMENTS = st.datetimes(min_value=datetime(1971, 1, 2), max_value=datetime(9998, 12, 30), timezones=st.just(UTC))
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(MOMENTS, OFFSETS, st.sampled_from("Tt "))
def test_every_offset_is_the_same_moment(moment: datetime, zone: timezone, between: str) -> None:
    expected = (moment - EPOCH) // timedelta(microseconds=1)
    written = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert as_written(written) == written
    for form in (written, moment.isoformat(between), moment.astimezone(zone).isoformat(between)):
        assert microseconds(form) == expected, form
        assert as_written(form) == written, form


@given(MOMENTS, MOMENTS, OFFSETS, OFFSETS)
def test_read_times_sort_as_the_moments_do(one: datetime, other: datetime, here: timezone, there: timezone) -> None:
    texts = as_written(one.astimezone(here).isoformat()), as_written(other.astimezone(there).isoformat())
    assert (texts[0] < texts[1]) == (one < other)


@given(
    st.text(max_size=70) | st.from_regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?[Z+-]?[\d:]{0,5}", fullmatch=True)
)
def test_nothing_else_is_a_time_and_nothing_raises(text: str) -> None:
    at = microseconds(text)
    assert at is None or at >= 0
    Gatherer(Session(session="a", date="2026-11-22")).take(read_line(json.dumps({"type": "x", "time": text}).encode()))


def test_forms() -> None:
    wrong = []
    for text, expected in {
        "2026-11-22T07:49:31.552971Z": "2026-11-22T07:49:31.552971Z",
        "2026-11-22T07:49:31Z": "2026-11-22T07:49:31.000000Z",
        "2026-11-22T07:49:31.5z": "2026-11-22T07:49:31.500000Z",
        "2026-11-22T07:49:31.123456789Z": "2026-11-22T07:49:31.123456Z",
        "2026-11-22T07:49:31.552971+00:00": "2026-11-22T07:49:31.552971Z",
        "2026-11-22T07:49:31.552971-00:00": "2026-11-22T07:49:31.552971Z",
        "2026-11-22 00:30:00+02:00": "2026-11-21T22:30:00.000000Z",
        "2026-12-31T20:00:00-05:30": "2027-01-01T01:30:00.000000Z",
        "2026-11-22T07:49:31": "",  # whose time this is, is not said
        "2026-11-22T07:49:31+0200": "",
        "2026-11-22T07:49:31+24:00": "",
        "2026-11-22T25:49:31+02:00": "",
        "2026-13-22T07:49:31+02:00": "",
        "٢٠٢٦-11-22T07:49:31Z": "",
        "2026-11-22T07:49:31." + "1" * 80 + "Z": "",
        "2026-11-22": "",
        "2026-11-22T07:49:3x.552971Z": None,  # in this program's length, and none
        "2026-11-22T07:49-31.552971Z": None,
        "2026-13-22T07:49:31.552971Z": None,
        "": "",
    }.items():
        if as_written(text) != (text if expected is None else expected) or (microseconds(text) is None) != (
            not expected
        ):
            wrong.append((text, as_written(text), microseconds(text)))
    assert not wrong


def test_a_session_of_another_writer(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir(mode=0o700)
    times = (
        "2026-11-22T09:00:00+02:00",
        "2026-11-22T07:00:10+00:00",
        "2026-11-22T02:00:20.25-05:00",
        "2026-11-22T07:00:15Z",
    )
    events: tuple[dict[str, object], ...] = (
        {"type": "session.started", "cwd": "/srv"},
        {"type": "goal.started", "goal_id": "g", "goal": "look"},
        {"type": "assistant.message", "goal_id": "g", "text": "done"},
        {"type": "session.finished"},
    )
    (folder / "2026-11-22-a.jsonl").write_text(
        "".join(json.dumps({"v": 1, "time": time, **event}) + "\n" for time, event in zip(times, events, strict=True))
    )
    with LogIndex(str(folder), "") as index:
        (row,) = index.ask(lambda database: sessions(database, str(folder), Conditions()))
        since = Conditions(since=row["ended"])
        assert index.ask(lambda database: sessions(database, str(folder), since)) == [row]
    seven = datetime(2026, 11, 22, 7, tzinfo=UTC).timestamp() * 1e6
    assert (row["began"], row["ended"]) == (seven, seven + 20.25e6)
    assert row["duration"] == 10.25
