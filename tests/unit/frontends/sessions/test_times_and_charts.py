"""Times as people write them, and plots."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from agent.emitters.paint import cell_width
from agent.emitters.streams import MemorySink
from agent.frontends.sessions.charts import bar, columns, knows_blocks, line
from agent.frontends.sessions.shared import Cell, Column, print_table
from agent.frontends.sessions.stats_view import bucketed
from agent.text.times import _read, absolute, age_of, ago, iso, since_of, until_of
from tests.support.each import each

NOW = datetime(2026, 11, 22, 15, 30, tzinfo=UTC)  # a Sunday
DAY = 86_400_000_000


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@each(
    ("text", "seconds"),
    [("90d", 7_776_000), ("12 hours", 43_200), ("3 weeks", 1_814_400), ("1y", 31_557_600), ("6 months", 15_778_800)],
)
def test_ages(text: str, seconds: int) -> None:
    assert age_of(text) == seconds


@each("text", ["", "d", "-1d", "1e9d", "9999999999d", "1 fortnight"])
def test_bad_ages(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        age_of(text)


@each(
    ("text", "expected"),
    [
        ("now", "2026-11-22T15:30:00"),
        ("today", "2026-11-22T00:00:00"),
        ("Yesterday", "2026-11-21T00:00:00"),
        ("monday", "2026-11-16T00:00:00"),
        ("sunday", "2026-11-22T00:00:00"),
        ("2d", "2026-11-20T15:30:00"),
        ("90 min", "2026-11-22T14:00:00"),
        ("90 minutes ago", "2026-11-22T14:00:00"),
        ("1.5h", "2026-11-22T14:00:00"),
        ("3 weeks", "2026-11-01T15:30:00"),
        ("last week", "2026-11-15T15:30:00"),
        ("10 s", "2026-11-22T15:29:50"),
        ("14:05", "2026-11-22T14:05:00"),
        ("2026-11-01", "2026-11-01T00:00:00"),
        ("2026-11-01 14:30", "2026-11-01T14:30:00"),
        ("2026-11-01T14:30:00+02:00", "2026-11-01T12:30:00"),
        ("2026-11-01T14:30:00Z", "2026-11-01T14:30:00"),
    ],
)
def test_times(text: str, expected: str) -> None:
    assert _read(text, NOW)[0].astimezone(UTC).isoformat()[:19] == expected


@each(
    "text",
    [
        "",
        "blub",
        "2 fortnights",
        "2026-13-01",
        "2026-02-30",
        "25:00",
        "d",
        "-2d",
        "9" * 30,
        "99999999y",
        "2d;",
        "٣d",
        "week",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no time that can be read; write 2d"):
        since_of(text)


def test_until_a_day_is_to_its_end() -> None:
    assert until_of("2026-11-01") - since_of("2026-11-01") == DAY
    assert until_of("2026-11-01 12:00") == since_of("2026-11-01 12:00")


@each(
    ("seconds", "text"),
    [
        (-3600, ""), (0, "now"), (59, "now"), (60, "1m ago"), (7_200, "2h ago"), (86_400, "1d ago"), (13 * 86_400, "13d ago"),
        (14 * 86_400, "2w ago"), (60 * 86_400, "1mo ago"), (800 * 86_400, "2y ago"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds: int, text: str) -> None:
    assert ago(int((NOW.timestamp() - seconds) * 1e6), NOW.timestamp()) == text


def test_absolute_times() -> None:
    now = NOW.timestamp()
    assert absolute(int(now * 1e6), now) == "Nov 22 15:30"
    assert absolute(int(datetime(2025, 3, 4, 5, 6, tzinfo=UTC).timestamp() * 1e6), now) == "2025-03-04"
    assert (absolute(0), iso(0)) == ("", "")
    assert iso(1_795_333_771_552_971) == "2026-11-22T07:49:31.552971Z"


def test_columns() -> None:
    assert columns([0, 1, 4, 8], rows=2, width=1, gap=0, blocks=True) == ["   █", " ▂██"]
    assert columns([1, 2], rows=1, width=3, gap=1, blocks=False) == [":::.###".replace(".", " ")]
    assert columns([], rows=2, width=1, gap=0, blocks=True) == ["", ""]


def test_lines_and_bars() -> None:
    assert line([0, 1, 4, 8], width=1, gap=0, blocks=True) == " ▁▄█"
    assert line([0, 1, 4, 8], width=1, gap=0, blocks=False) == " .=@"
    assert bar(8, 8, width=4, blocks=True) == "████"
    assert bar(0.001, 8, width=4, blocks=True) == "▏"
    assert bar(0, 8, width=4, blocks=True) == ""
    assert bar(3, 8, width=4, blocks=False) == "##"


@each(
    ("environ", "encoding", "knows"),
    [
        ({}, "utf-8", True),
        ({"LANG": "de_DE.UTF-8"}, "UTF-8", True),
        ({"LANG": "C"}, "utf-8", False),
        ({"LANG": "C.utf8"}, "utf-8", True),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, "utf-8", False),
        ({"TERM": "linux"}, "utf-8", False),
        ({}, "latin-1", False),
    ],
)
def test_whether_blocks_show(environ: dict[str, str], encoding: str, knows: bool) -> None:
    assert knows_blocks(environ, encoding) is knows


def test_days_without_goals_are_drawn_and_many_days_are_put_together() -> None:
    row = {"goals": 2, "failed": 1, "edited": 0, "seconds": 3.0, "cost": None, "high": 0}
    buckets, size = bucketed([{"day": "2026-11-01", **row}, {"day": "2026-11-05", **row}], 60)
    assert ([bucket.goals for bucket in buckets], size) == ([2, 0, 0, 0, 2], 1)
    buckets, size = bucketed([{"day": "2026-01-01", **row}, {"day": "2026-11-05", **row}], 60)
    assert (len(buckets), size, buckets[-1].first) == (45, 7, date(2026, 11, 5))
    assert bucketed([{"day": None, **row}], 60)[1] == 1
    assert len(bucketed([{"day": "0001-01-01", **row}, {"day": "9999-12-31", **row}], 60)[0]) <= 60


def test_a_table_drops_what_matters_less() -> None:
    columns_ = (Column("a", "A"), Column("b", "B", drop=1), Column("c", "C", drop=2), Column("d", "D", flexible=True))
    row = {"a": Cell("x" * 10), "b": Cell("y" * 10), "c": Cell("z" * 10), "d": Cell("日本語" * 20)}
    seen = []
    for width in (100, 50, 38, 20):
        out = MemorySink(is_tty=True, columns=width)
        print_table([row], columns_, out)
        lines = out.text.splitlines()
        seen.append(lines[0].split())
        assert max(map(cell_width, lines)) <= width
    assert seen == [["A", "B", "C", "D"], ["A", "B", "D"], ["A", "D"], ["A", "D"]]
    narrow = MemorySink(is_tty=True, columns=16)
    print_table([row], columns_, narrow)
    assert max(map(cell_width, narrow.text.splitlines())) <= 16
    out = MemorySink(columns=20)
    print_table([row], columns_, out)
    assert "日本語" * 20 in out.text  # without a terminal nothing is cut
