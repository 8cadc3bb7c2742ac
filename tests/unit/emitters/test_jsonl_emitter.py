"""Events as JSON lines on real pipes."""

from __future__ import annotations

import asyncio
import io
import json
import os
from typing import get_args

import pytest

from agent.emitters.streams import JsonlEmitter
from agent.protocol.errors import ClientDisconnected
from agent.protocol.events.known import KnownEvent
from agent.protocol.events.session import AssistantDelta, Notice
from agent.protocol.records import decode
from tests.support.event_cases import CASES, as_record


@pytest.mark.covers("S1-41")
def test_each_event_is_one_line_that_reads_back() -> None:
    target = io.BytesIO()
    emitter = JsonlEmitter(target)
    events = [event for case in CASES.values() for event in case]
    for event in events:
        asyncio.run(emitter.emit(as_record(event)))
    lines = target.getvalue().splitlines()
    assert [decode(line) for line in lines] == [as_record(event) for event in events]
    assert {json.loads(line)["type"] for line in lines} >= {kind.__struct_config__.tag for kind in get_args(KnownEvent)}
    assert all(list(json.loads(line))[:6] == ["v", "seq", "time", "session", "run", "goal_id"] for line in lines)


def test_live_bytes_are_not_mixed_in() -> None:
    target = io.StringIO()
    emitter = JsonlEmitter(target)
    emitter.output("stdout", b"raw")
    asyncio.run(emitter.emit(as_record(AssistantDelta(text="é\n"))))
    assert json.loads(target.getvalue())["text"] == "é\n"


@pytest.mark.covers("S1-38", "S1-40")
def test_a_reader_that_went_away_is_told() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb", buffering=0) as target, pytest.raises(ClientDisconnected):
        asyncio.run(JsonlEmitter(target).emit(as_record(Notice(text="x"))))
