"""The schema of the log: each change of a line shows in tests/golden/events, and the lines are what the schema says.

AGENT_UPDATE_GOLDEN=1 writes the lines anew. A line that was written once must be read for ever: lines are added, not changed.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.protocol.events.known import Event, KnownEvent, UnknownEvent, event_schema
from agent.protocol.records import Record, decode, encode, flatten
from tests.support.each import each
from tests.support.event_cases import CASES

GOLDEN = Path(__file__).parents[2] / "golden" / "events" / "lines.jsonl"
SCHEMA = event_schema()
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list, "null": type(None),
}  # fmt: skip


def one_of_each() -> list[Event]:
    found: dict[str, Event] = {}
    for events in CASES.values():
        for event in events:
            if not isinstance(event, UnknownEvent):
                found.setdefault(type(event).__name__, event)
    return [found[name] for name in sorted(found)]


def line_of(event: Event) -> bytes:
    return encode(
        Record(
            v=1, seq=7, time="2026-03-04T10:20:30.000001Z", session="s", run="r", goal_id="g", event=event, prev="a" * 64
        )
    )  # fmt: skip


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """As much of JSON Schema as ours uses."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    checks = [
        not kinds or any(isinstance(value, TYPES[kind]) and (kind == "boolean" or value is not True) for kind in kinds),
        "enum" not in schema or value in schema["enum"],
        "not" not in schema or not fits(value, schema["not"]),
        "anyOf" not in schema or any(fits(value, each) for each in schema["anyOf"]),
        "pattern" not in schema or re.search(schema["pattern"], value) is not None,
        "minimum" not in schema or value >= schema["minimum"],
    ]
    if isinstance(value, dict):
        checks.append(all(name in value for name in schema.get("required", ())))
        checks += [fits(value[name], inner) for name, inner in schema.get("properties", {}).items() if name in value]
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        checks += [fits(item, schema["items"]) for item in value]
    return all(checks)


@pytest.mark.covers("S1-68")
def test_the_golden_lines() -> None:
    now = b"".join(line_of(event) for event in one_of_each())
    if os.environ.get("AGENT_UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_bytes(now)
    assert GOLDEN.read_bytes() == now


@each("event", one_of_each(), ids=lambda event: type(event).__name__)
def test_a_line_is_the_flat_mapping(event: Event) -> None:
    line = line_of(event)
    assert line == msgspec.json.encode(flatten(decode(line))) + b"\n"


def test_no_field_of_an_event_has_a_name_of_the_envelope() -> None:
    envelope = {"v", "seq", "time", "session", "run", "goal_id", "prev", "type"}
    assert [kind for kind in KnownEvent.__args__ if envelope & set(kind.__struct_fields__)] == []


def test_golden_lines_are_read_and_written_as_they_are() -> None:
    for line in GOLDEN.read_bytes().splitlines(keepends=True):
        record = decode(line)
        assert not isinstance(record.event, UnknownEvent)
        assert record.extras == {}
        assert encode(record) == line


@each("event", one_of_each(), ids=lambda event: type(event).__name__)
def test_lines_are_what_the_schema_says(event: Event) -> None:
    line = json.loads(line_of(event))
    assert fits(line, SCHEMA)
    assert fits(line, {"$ref": f"#/$defs/{type(event).__name__}"})
    assert not fits({**line, "seq": 0}, SCHEMA)
    assert not fits({**line, "prev": "A"}, SCHEMA)


def test_the_schema_knows_every_type_and_lets_newer_ones_pass() -> None:
    assert {kind.__name__ for kind in KnownEvent.__args__} <= set(SCHEMA["$defs"])
    envelope = {"v": 2, "seq": 1, "time": "t", "session": "s", "run": "", "goal_id": ""}
    assert fits({**envelope, "type": "new.thing", "x": 1}, SCHEMA)
    assert fits({**envelope, "type": "notice", "text": "x", "more": 1}, SCHEMA)
    assert not fits({**envelope, "type": "notice", "text": 1}, SCHEMA)
    assert not fits({**envelope, "type": "notice"}, SCHEMA)
