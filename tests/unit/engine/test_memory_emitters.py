"""None, kept, several."""

from __future__ import annotations

import asyncio

import pytest

from agent.engine.plain_emitters import CollectingEmitter, FanOut, NullEmitter
from agent.protocol.errors import ClientDisconnected, WriteFailed
from agent.protocol.events.session import Notice
from tests.support.event_cases import as_record


class Broken(NullEmitter):
    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls = 0

    async def emit(self, record) -> None:
        self.calls += 1
        raise self.error


@pytest.mark.covers("S1-41")
def test_collecting_keeps_records_and_output() -> None:
    emitter = CollectingEmitter()
    asyncio.run(emitter.emit(as_record(Notice(text="x"))))
    emitter.output("stdout", b"a")
    emitter.output("stdout", b"b")
    assert emitter.events == [Notice(text="x")]
    assert emitter.records == [as_record(Notice(text="x"))]
    assert (emitter.live_output("stdout"), emitter.live_output("stderr")) == (b"ab", b"")


@pytest.mark.covers("S1-41")
def test_null_takes_everything() -> None:
    asyncio.run(NullEmitter().emit(as_record(Notice(text="x"))))
    NullEmitter().output("stdout", b"x")


def test_fan_out_goes_on_without_the_broken_one() -> None:
    main, broken = CollectingEmitter(), Broken(WriteFailed("full"))
    both = FanOut(main, broken)
    for _ in range(2):
        asyncio.run(both.emit(as_record(Notice(text="x"))))
    both.output("stderr", b"y")
    assert len(main.records) == 2
    assert main.live_output("stderr") == b"y"
    assert broken.calls == 1
    assert [str(failure) for failure in both.failures] == ["full"]


def test_fan_out_says_when_the_main_one_is_gone_and_still_serves_the_others() -> None:
    other = CollectingEmitter()
    both = FanOut(Broken(ClientDisconnected()), other)
    with pytest.raises(ClientDisconnected):
        asyncio.run(both.emit(as_record(Notice(text="x"))))
    assert len(other.records) == 1
