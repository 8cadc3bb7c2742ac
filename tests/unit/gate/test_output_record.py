"""Output on its way to the log, where the log breaks."""

from __future__ import annotations

import asyncio
import threading

from agent.engine.stream import EventStream
from agent.gate.output_record import OutputLog
from agent.protocol.errors import RecordingError
from tests.support.fakes import FakeEmitter, FakeRecorder, FakeStreamRedaction


class Breaking(FakeRecorder):
    """On a disk that takes its time, and then has no more room."""

    def __init__(self) -> None:
        super().__init__()
        self.path = "/log"  # type: ignore[assignment]
        self.broken_after = 0
        self.asked, self.may_break = threading.Event(), threading.Event()

    def append(self, *given: object, **more: object) -> object:  # type: ignore[override]
        self.asked.set()
        assert self.may_break.wait(60)
        return super().append(*given, **more)  # type: ignore[arg-type]


def test_a_log_that_breaks_while_the_command_ends_holds_nobody_up() -> None:
    log = Breaking()

    async def scenario() -> RecordingError | None:
        output = OutputLog(EventStream(log, FakeEmitter(), run="r"), "c", FakeStreamRedaction)  # type: ignore[arg-type]
        output.start()
        output.feed("stdout", b"a line\n", 0.0)
        await asyncio.to_thread(log.asked.wait, 30)
        stopping = asyncio.ensure_future(output.stop())
        await asyncio.sleep(0)  # it has told the task to end, which waits for the log
        log.may_break.set()
        async with asyncio.timeout(60):
            return await stopping

    assert isinstance(asyncio.run(scenario()), RecordingError)
