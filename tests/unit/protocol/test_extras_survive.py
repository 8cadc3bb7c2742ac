"""Fields and types of a newer version survive reading and writing again, at any depth."""

from __future__ import annotations

import json

import msgspec

from agent.protocol.events.command import CommandFinished
from agent.protocol.events.known import UnknownEvent
from agent.protocol.events.session import Notice
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.records import decode, encode
from tests.support.each import each
from tests.support.event_cases import CASES

ENVELOPE = {"v": 9, "seq": 3, "time": "2026", "session": "s", "run": "r", "goal_id": "g", "prev": "f" * 64}

EVENTS = [event for events in CASES.values() for event in events if not isinstance(event, UnknownEvent)]


def again(line: dict) -> dict:
    return json.loads(encode(decode(json.dumps(line))))


def test_an_unknown_field_of_a_known_event() -> None:
    line = {**ENVELOPE, "type": "notice", "text": "x", "colour": {"deep": [1, None, "a"]}}
    record = decode(json.dumps(line))
    assert record.event == Notice(text="x")
    assert record.extras == {"colour": {"deep": [1, None, "a"]}}
    assert again(line) == line


def test_unknown_fields_inside_of_known_values() -> None:
    event = CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0))
    line = {**ENVELOPE, **json.loads(msgspec.json.encode(event))}
    line["result"]["energy"] = 5
    line["result"]["stdout"]["encoding"] = "utf-8"
    assert again(line) == line
    assert decode(json.dumps(line)).event == event


def test_unknown_fields_of_items_in_a_list() -> None:
    change = {"path": "/a", "op": "create", "kind": "file", "mood": "good"}
    line = {
        **ENVELOPE,
        "type": "rehearsal.finished",
        "command_id": "c",
        "outcome": "finished",
        "changes": [change, change],
    }
    assert [each.get("mood") for each in again(line)["changes"]] == ["good", "good"]


def test_an_unknown_type_and_a_known_one_of_another_shape() -> None:
    for line in (
        {**ENVELOPE, "type": "new.thing", "x": [1, {"y": 2}]},
        {**ENVELOPE, "type": "notice", "text": {"en": "x"}},
    ):
        assert isinstance(decode(json.dumps(line)).event, UnknownEvent)
        assert again(line) == line


@each("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_keeps_a_new_field(event) -> None:
    line = {**ENVELOPE, **json.loads(msgspec.json.encode(event)), "new_field": "kept"}
    assert again(line) == line
    assert decode(json.dumps(line)).event == event
