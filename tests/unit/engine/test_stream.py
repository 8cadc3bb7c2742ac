"""What is written is told: every type of event that the log holds reaches the emitter, as it stands there."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as some

from agent.engine.stream import EventStream
from agent.protocol.events.known import UNRECORDED, Event, KnownEvent, UnknownEvent
from agent.protocol.events.session import LogContinued, LogRotated
from agent.protocol.records import Record
from agent.recording.reader import read_records
from tests.support.event_cases import CASES
from tests.support.fakes import FakeEmitter
from tests.support.log_place import Place

ONE_OF_EACH: list[Event] = list(
    {type(event): event for event in itertools.chain(*CASES.values()) if not isinstance(event, UnknownEvent)}.values()
)


RECORDED = [event for event in ONE_OF_EACH if not isinstance(event, UNRECORDED)]


def sent(place: Place, events: list[Event], rotate_bytes: int) -> list[Record]:
    """What the emitter got when all of them were sent to a new log."""
    recorder, emitter = place.open(rotate_bytes=rotate_bytes), FakeEmitter()

    async def scenario() -> None:
        stream = EventStream(recorder, emitter, run="r")
        for event in events:
            await stream.send(event)

    asyncio.run(scenario())
    place.crash(recorder)
    return [record for record in emitter.records if not isinstance(record.event, UNRECORDED)]


def written(place: Place) -> list[Record]:
    (first,) = Path(place.sessions).glob("*-a.jsonl")
    return list(read_records(str(first)))


def test_every_type_that_is_recorded_is_emitted(tmp_path: Path) -> None:
    place = Place(tmp_path)
    emitted = sent(place, ONE_OF_EACH, rotate_bytes=2_000)
    assert {type(event) for event in ONE_OF_EACH} == set(KnownEvent.__args__)
    assert emitted == written(place)
    ours = [record for record in emitted if record.run == ""]  # what the log says of itself
    assert {type(record.event) for record in ours[1:]} == {LogRotated, LogContinued}
    assert {type(record.event) for record in emitted} == set(KnownEvent.__args__) - set(UNRECORDED)


@given(some.lists(some.sampled_from(RECORDED), min_size=1, max_size=12), some.sampled_from([0, 600, 2_000]))
def test_in_any_order(events: list[Event], rotate_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        assert sent(place, events, rotate_bytes) == written(place)
