"""Have processes beside this one work through batches of bytes. Nothing is started before there is enough to do."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from agent.protocol.errors import OtherError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Work = Callable[[bytes], bytes]


def cores() -> int:
    """Count the processors that we may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells
        return os.cpu_count() or 1


class Workers:
    """Up to `jobs` forked processes that each answer one batch at a time; without `fork`, or with one job, all is done here.

    A copy of this process is what runs: no program is searched for and started, so no folder or variable chooses what it is.
    """

    def __init__(self, work: Work, jobs: int) -> None:
        self.jobs = jobs if hasattr(os, "fork") else 1
        self._work = work
        self._busy: dict[Connection, int] = {}
        self._idle: list[Connection] = []
        self._processes: list[Any] = []
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._done: deque[tuple[int, bytes]] = deque()

    def give(self, ticket: int, batch: bytes, *, here: bool = False) -> None:
        """Have a batch worked on; `here`: by this process, at once."""
        if here or self.jobs == 1:
            self._done.append((ticket, self._work(batch)))
            return
        if not self._processes:
            self._start()
        self._waiting.append((ticket, batch))
        self._hand_out()

    def take(self, *, wait: bool) -> Iterator[tuple[int, bytes]]:
        """Answers that are there, in any order; with `wait`, at least one, where there is something to wait for."""
        from multiprocessing.connection import wait as ready

        if self._busy:
            timeout = None if wait and not self._done else 0
            for connection in ready(list(self._busy), timeout):
                self._receive(connection)  # type: ignore[arg-type]
            self._hand_out()
        while self._done:
            yield self._done.popleft()

    def close(self) -> None:
        """End the processes. Safe to call twice."""
        for connection in (*self._busy, *self._idle):
            connection.close()
        self._busy, self._idle = {}, []
        for process in self._processes:
            process.terminate()
            process.join()
        self._processes = []

    def _start(self) -> None:
        import gc
        from multiprocessing import get_context

        gc.freeze()  # what is there already is shared with the copies, as long as nobody writes to it
        context = get_context("fork")
        ours: list[Connection] = []
        for _ in range(self.jobs):
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_serve, args=(there, tuple(ours), self._work), daemon=True)
            process.start()
            there.close()
            self._processes.append(process)
        gc.unfreeze()
        self._idle = ours

    def _hand_out(self) -> None:
        """One batch for each process: with a second one in the pipe, both sides could come to wait for each other."""
        while self._waiting and self._idle:
            ticket, batch = self._waiting.popleft()
            connection = self._idle.pop()
            self._busy[connection] = ticket
            try:
                connection.send_bytes(batch)
            except OSError as error:
                raise _lost() from error

    def _receive(self, connection: Connection) -> None:
        try:
            answer = connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise _lost() from error
        self._done.append((self._busy.pop(connection), answer))
        self._idle.append(connection)


def _lost() -> OtherError:
    return OtherError(
        "a worker process ended before its work was done", hint="perhaps memory ran out; --jobs 1 works without them"
    )


def _serve(connection: Connection, others: tuple[Connection, ...], work: Work) -> None:
    """The life of a worker: batch in, answer out, until the other side is gone."""
    for other in others:  # else a pipe of ours would never be seen to end
        other.close()
    signal.set_wakeup_fd(-1)  # the loop of the process that we are a copy of
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        try:
            batch = connection.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            connection.send_bytes(work(batch))
        except OSError:
            return
