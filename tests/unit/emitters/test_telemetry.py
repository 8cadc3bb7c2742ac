"""The telemetry file: flat lines with nobody's words in them, one write each, and never a reason to stop."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from agent.emitters.telemetry import TelemetryEmitter, telemetry_line
from agent.engine.plain_emitters import CollectingEmitter, FanOut
from agent.protocol.errors import WriteFailed
from agent.protocol.events.session import AssistantDelta
from agent.protocol.records import Record, event_type
from tests.support.event_cases import CASES, as_record
from tests.support.pictured_session import HOSTILE_TEXT, hostile, pictured

ENVELOPE = ["v", "seq", "time", "session", "run", "goal_id", "type"]


def lines_of(records: list[Record]) -> list[dict[str, object]]:
    return [json.loads(telemetry_line(record)) for record in records]


def every_case() -> list[Record]:
    return [as_record(events[-1]) for events in CASES.values() if not isinstance(events[-1], AssistantDelta)]


def test_every_event_is_flat() -> None:
    for line in lines_of([*every_case(), *pictured(), *hostile()]):
        assert list(line)[:7] == ENVELOPE
        assert all(value is None or isinstance(value, (str, int, float)) for value in line.values()), line


def test_no_word_of_anybody_is_in_it() -> None:
    told = json.dumps(lines_of(pictured()))
    for words in (
        "largest",
        "du -ah",
        "lexer",
        "src",
        "/home/ada",
        "classify",
        "installed",
        "example.org",
        "moon",
        "small build",
    ):
        assert words not in told.replace('"moon.phase"', ""), words
    told = json.dumps(
        [{key: value for key, value in line.items() if key not in ENVELOPE} for line in lines_of(hostile())]
    )
    for words in (HOSTILE_TEXT[:9], "alert", "owned"):
        assert words not in told


def test_what_is_counted() -> None:
    told = {}
    for line in lines_of(pictured()):
        told.setdefault(line["type"], line)
    wanted = {"level": "low", "findings": 0, "rules": "", "verdict": "ask", "stage": "proposed"}
    assert {key: told["command.rated"][key] for key in wanted} == wanted
    wanted = {"exit_code": 0, "duration": 0.4, "timed_out": False, "can_undo": False, "stdout_bytes": 0}
    assert {key: told["command.finished"][key] for key in wanted} == wanted
    wanted = {
        "status": "completed",
        "duration": 2.5,
        "input_tokens": 412,
        "cost": 0.0004,
        "planner": "llm",
        "model": "small-1",
    }
    assert {key: told["goal.finished"][key] for key in wanted} == wanted
    assert told["rehearsal.finished"]["deleted"] == 1
    assert told["undo.finished"]["restored"] == 3


def test_several_writers_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    emitters = [TelemetryEmitter(os.open(path, flags, 0o600)) for _ in range(3)]

    async def all_of_them() -> None:
        for record in pictured():
            for emitter in emitters:
                await emitter.emit(record)

    asyncio.run(all_of_them())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 3 * len(pictured())


def test_deltas_are_not_told(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "t", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    asyncio.run(TelemetryEmitter(fd).emit(as_record(AssistantDelta(text="x"))))
    assert (tmp_path / "t").read_bytes() == b""


def test_a_pipe_that_nobody_empties_loses_lines_and_says_so() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    emitter = TelemetryEmitter(writing)
    record = pictured()[0]

    async def fill() -> None:
        for _ in range(1_000):
            await emitter.emit(record)

    asyncio.run(fill())
    os.set_blocking(reading, False)
    taken = b""
    while True:
        try:
            taken += os.read(reading, 1 << 20)
        except BlockingIOError:
            break
    asyncio.run(emitter.emit(record))
    kept = taken.count(b"\n")
    last = json.loads(os.read(reading, 1 << 20).splitlines()[-1])
    assert last["dropped"] == 1_000 - kept > 0
    os.close(reading)
    os.close(writing)


def test_a_full_disk_leaves_it_out_and_stops_nothing() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    fd = os.open("/dev/full", os.O_WRONLY | os.O_APPEND)
    main = CollectingEmitter()
    both = FanOut(main, TelemetryEmitter(fd))

    async def emit() -> None:
        for record in pictured()[:3]:
            await both.emit(record)

    asyncio.run(emit())
    os.close(fd)
    assert len(main.records) == 3
    assert [type(failure) for failure in both.failures] == [WriteFailed]


def test_the_page_tells_every_field() -> None:
    page = (Path(__file__).parents[3] / "docs/telemetry.md").read_text()
    rows: dict[str, set[str]] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 2 and cells[0].startswith("`"):
            for name in re.findall("`([a-z_.]+)`", cells[0]):
                rows[name] = set(re.findall("`([a-z_]+)`", cells[1]))
    for record in [*every_case(), *pictured()]:
        fields = set(lines_of([record])[0]) - set(ENVELOPE)
        assert fields == rows.get(event_type(record.event), set()), event_type(record.event)
