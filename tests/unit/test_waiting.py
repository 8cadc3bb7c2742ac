"""Work beside the event loop: its results, its order, and what a cancellation does to it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

from agent.engine.stream import EventStream
from agent.protocol.errors import RecordingError
from agent.protocol.events.session import Notice
from agent.waiting import completed, computed, in_thread
from tests.support.fakes import FakeEmitter, FakeRecorder


def test_results_and_errors_come_back() -> None:
    async def scenario() -> None:
        for run in (in_thread, computed):
            assert await run(lambda: 7) == 7
            with pytest.raises(ZeroDivisionError):
                await run(lambda: 1 // 0)  # type: ignore[arg-type, return-value]
        assert await completed(lambda: 7) == (7, None)

    asyncio.run(scenario())


def test_what_blocks_does_not_wait_for_others_and_what_computes_does() -> None:
    meeting = threading.Barrier(12, timeout=60)
    seen: list[int] = []
    threads: set[int] = set()

    def note(number: int) -> None:
        threads.add(threading.get_ident())
        seen.append(number)

    async def scenario() -> None:
        await asyncio.gather(*(in_thread(meeting.wait) for _ in range(12)))
        await asyncio.gather(*(computed(lambda number=number: note(number)) for number in range(50)))  # type: ignore[misc]

    for _ in range(3):  # the threads that are kept are used again, whichever loop asks
        asyncio.run(scenario())
    assert seen == [*range(50)] * 3
    assert len(threads) == 1


def test_the_loop_goes_on_meanwhile() -> None:
    go_on = threading.Event()

    async def scenario() -> bool:
        work = asyncio.ensure_future(computed(lambda: go_on.wait(60)))
        await asyncio.sleep(0.01)
        go_on.set()
        return await work

    assert asyncio.run(scenario())


def test_a_forked_child_has_threads_of_its_own() -> None:
    asyncio.run(computed(lambda: None))
    child = os.fork()
    if not child:
        os._exit(asyncio.run(computed(lambda: 3)) + asyncio.run(in_thread(lambda: 4)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class Slow(FakeRecorder):
    """On a disk that takes its time."""

    path = "/log"

    def __init__(self) -> None:
        super().__init__()
        self.path = "/log"  # type: ignore[assignment]

    def append(self, *given: object, **more: object) -> object:  # type: ignore[override]
        time.sleep(0.05)
        return super().append(*given, **more)  # type: ignore[arg-type]


_ENDS_AT_ONCE = """
import atexit, sys, threading
atexit.register(lambda: print(len(sys._current_frames()) - 1))  # run last: what was registered before
from agent.waiting import _blocking
class Slow:
    def __del__(self, sleep=__import__("time").sleep): sleep(0.05)
slow, held = Slow(), threading.Lock()
held.acquire()
for _ in range(8): _blocking.put(held.acquire)
"""


def test_a_program_that_ends_at_once_waits_until_its_threads_have_begun() -> None:
    """Python 3.11.2 crashes otherwise, where memory that it has freed is used again meanwhile."""
    done = subprocess.run(
        [sys.executable, "-c", _ENDS_AT_ONCE],
        env={"MALLOC_PERTURB_": "165", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "8\n"), done.stderr


def test_what_is_in_the_log_was_emitted_also_where_the_sender_is_cancelled() -> None:
    log, emitter = Slow(), FakeEmitter()

    async def scenario() -> None:
        sending = asyncio.ensure_future(EventStream(log, emitter, run="r").send(Notice(text="x")))  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        assert log.types == []
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    asyncio.run(scenario())
    assert log.types == emitter.types == ["notice"]


def test_a_log_that_breaks_meanwhile_is_said() -> None:
    log = Slow()
    log.broken_after = 0
    with pytest.raises(RecordingError):
        asyncio.run(EventStream(log, FakeEmitter(), run="r").send(Notice(text="x")))  # type: ignore[arg-type]
