"""asciicast v3: a header, then events; parsed back and put on a screen it is what the terminal showed."""

from __future__ import annotations

import json

import pyte

from agent.emitters.export.asciicast import COLUMNS, IDLE, ROWS, asciicast
from agent.emitters.export.frames import Look
from agent.emitters.export.screen_script import screen_script
from agent.protocol.records import decode, encode
from tests.support.pictured_session import BEGAN, hostile, many, pictured


def parsed(lines: list[bytes]) -> tuple[dict[str, object], list[tuple[float, str, str]]]:
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    header, *events = [json.loads(line) for line in lines]
    return header, [(float(interval), kind, text) for interval, kind, text in events]


def test_the_header_says_when_and_how_large() -> None:
    header, _ = parsed(list(asciicast(pictured())))
    assert header == {
        "version": 3,
        "term": {"cols": COLUMNS, "rows": ROWS, "type": "xterm-256color"},
        "idle_time_limit": IDLE,
        "command": header["command"],
        "timestamp": int(BEGAN.timestamp()),
        "title": "agent-shell session pictured-1",
    }


def test_its_events_draw_what_the_terminal_showed() -> None:
    _, events = parsed(list(asciicast(pictured())))
    assert {kind for _, kind, _ in events} == {"o", "m", "x"}
    drawn, expected = pyte.Screen(COLUMNS, 200), pyte.Screen(COLUMNS, 200)
    stream = pyte.Stream(drawn)
    for _, kind, text in events:
        if kind == "o":
            stream.feed(text)
    frames = screen_script(pictured(), Look(idle=IDLE))
    pyte.Stream(expected).feed("".join(frame.text for frame in frames).replace("\n", "\r\n"))
    assert drawn.display == expected.display
    assert any(row[0].fg == "blue" for row in drawn.buffer.values())


def test_goals_are_markers_and_the_end_is_told() -> None:
    _, events = parsed(list(asciicast(pictured())))
    markers = [text for _, kind, text in events if kind == "m"]
    assert markers[:2] == ["which files here are the largest", "remove the build folder"]
    assert len(markers) == 8
    assert events[-1][1:] == ("x", "0")
    assert [kind for _, kind, _ in events].count("x") == 1


def test_nothing_takes_longer_than_the_limit() -> None:
    _, events = parsed(list(asciicast(pictured(), idle=0.7)))
    assert all(0 <= interval <= 0.7 for interval, kind, _ in events if kind == "o")
    total = sum(interval for interval, _, _ in events)
    assert total < sum(interval for interval, _, _ in parsed(list(asciicast(pictured(), idle=60)))[1])


def test_hostile_text_stays_in_its_line_and_acts_on_nothing() -> None:
    lines = list(asciicast([decode(encode(record)) for record in hostile()]))
    _, events = parsed(lines)
    for line in lines:
        assert line.isascii() or "\u202e" not in line.decode()
    for _, kind, text in events:
        if kind != "x":
            assert "\x1b]" not in text
            assert "\x1b[?" not in text
            assert "\x9b" not in text


def test_a_log_without_records_is_a_recording_of_nothing() -> None:
    header, events = parsed(list(asciicast([])))
    assert header["version"] == 3
    assert events == []


def test_long_sessions_stream() -> None:
    lines = asciicast(many(200))
    assert json.loads(next(lines))["version"] == 3
    assert sum(1 for _ in lines) > 400
