"""Wait without holding up the event loop: for what can be cancelled, for what blocks, and for what computes.

What blocks has a thread to itself as long as it does. What computes shares one: it holds the interpreter, and several such threads would
keep the loop waiting for as many turns.
"""

from __future__ import annotations

import _thread
import asyncio
import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

from agent.protocol.errors import BudgetExceeded, Cancelled
from agent.protocol.execution import CancellationToken

T = TypeVar("T")

_TURN = 0.0005
"""Seconds after which what computes gives the interpreter to a loop that wants it, which it may several times in one step."""


async def cancellable(work: Coroutine[Any, Any, T], token: CancellationToken, *, timeout: float | None = None) -> T:
    """The result of `work`. Raises Cancelled when `token` is set, BudgetExceeded after `timeout` seconds.

    Either way `work` is cancelled and has ended before this returns.
    """
    if token.cancelled:
        work.close()
        raise Cancelled(str(token.reason))
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)

    def stop() -> None:
        loop.call_soon_threadsafe(task.cancel)

    unsubscribe = token.subscribe(stop)
    try:
        async with asyncio.timeout(timeout):
            return await task
    except TimeoutError:
        if task.done() and not task.cancelled() and isinstance(task.exception(), TimeoutError):
            raise
        raise BudgetExceeded("the time budget of this goal is used up") from None
    except asyncio.CancelledError:
        if task.cancelled() and _stopped(token):
            raise Cancelled(str(token.reason)) from None
        raise
    finally:
        unsubscribe()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _stopped(token: CancellationToken) -> bool:
    """Asked again after waiting; a call, because type checkers take a property for a constant."""
    return token.cancelled


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking `work` in a thread that cannot keep the program from ending."""
    future, run = _handed_over(work)
    _blocking.put(run)
    return await future


async def computed(work: Callable[[], T]) -> T:
    """Run `work` that computes, after what was given here before."""
    future, run = _handed_over(work)
    _computing.put(run)
    return await future


def beside(work: Callable[[], None]) -> None:
    """Have `work`, which nobody awaits and which raises nothing, done in a thread that is there for such work, in turn."""
    _beside.put(work)


async def completed(work: Callable[[], T]) -> tuple[T, asyncio.CancelledError | None]:
    """Run blocking `work` to its end: its result, and that the caller was cancelled meanwhile. Raises what `work` raises."""
    task = asyncio.ensure_future(in_thread(work))
    try:
        return await asyncio.shield(task), None
    except asyncio.CancelledError as error:
        await asyncio.wait({task})
        return task.result(), error


def _handed_over(work: Callable[[], T]) -> tuple[asyncio.Future[T], Callable[[], None]]:
    """Return what to await, and what to run in another thread for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # a result of None is a T then

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as caught:  # handed to whoever awaits
            error = caught
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    return future, run


class _Threads:
    """Threads that take work from a queue: `one` for all of it in turn, else one for each that is under way. A forked child has none."""

    def __init__(self, *, one: bool = False) -> None:
        self._one = one
        self._reset()
        os.register_at_fork(after_in_child=self._reset)
        atexit.register(self._wait_until_begun)

    def _reset(self) -> None:
        self._works: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = self._idle = self._not_begun = 0

    def put(self, work: Callable[[], None]) -> None:
        with self._lock:
            start = not self._count if self._one else not self._idle
            self._count += start
            self._idle -= not start and not self._one
        self._works.put(work)
        if start:
            sys.setswitchinterval(_TURN)
            _thread.start_new_thread(self._run, (self._works,))  # `Thread.start` would wait until it runs
            with self._lock:
                self._not_begun += 1

    def _wait_until_begun(self) -> None:
        """At the end of Python, which frees what a thread needs to begin: 3.11 crashes where one begins later."""
        latest = time.monotonic() + _BEGUN_WITHIN
        while self._not_begun > 0 and time.monotonic() < latest:
            time.sleep(_TURN)

    def _run(self, works: SimpleQueue[Callable[[], None]]) -> None:
        with self._lock:
            self._not_begun -= 1
        while True:
            works.get()()
            if self._one:
                continue
            with self._lock:
                if self._idle >= _KEPT:
                    self._count -= 1
                    return
                self._idle += 1


_KEPT = 8
"""Threads that wait for the next work."""
_BEGUN_WITHIN = 5.0
_blocking, _computing, _beside = _Threads(), _Threads(one=True), _Threads(one=True)
