"""Run tests in several processes (`--workers N`) that are forked once all is collected: to collect takes longer than most of them run.

Each process begins with a part of the tests, in their order; who has done its own takes half of what is left of another's. It gets some
at a time, and keeps the last until it knows what comes next: fixtures that both need stay. The process that forks tells of all. It has run
none itself, so that a new one can go on where one died.
"""

from __future__ import annotations

import atexit
import contextlib
import mmap
import os
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

_AT_ONCE = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="the number of processes that run the tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if option.workers < 1 or option.collectonly or option.usepdb or session.testsfailed:
        return None
    _Pool(session, min(option.workers, len(session.items))).run()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


@dataclass
class _Worker:
    """A process that runs tests, as seen by the one that forks; tests are their places in the session."""

    todo: deque[int]
    pid: int = 0
    end: int = -1  # a descriptor to be read once the process has ended
    connection: Connection[Any, Any] | None = None
    given: list[int] = field(default_factory=list)
    told_to_end: bool = False


class _Pool:
    def __init__(self, session: pytest.Session, number: int) -> None:
        self._session = session
        self._running = memoryview(mmap.mmap(-1, 4 * max(number, 1))).cast("I")  # which test each process is in
        # Each folder of tests' files has its place in that of the session.
        self._folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        ends = [len(session.items) * at // max(number, 1) for at in range(number + 1)]
        self._workers = [_Worker(deque(range(*part))) for part in pairwise(ends)]

    def run(self) -> None:
        try:
            for worker in self._workers:
                self._start(worker)
            while living := [worker for worker in self._workers if worker.connection]:
                ready = wait([end for worker in living for end in (worker.connection, worker.end)])
                for worker in living:
                    if worker.connection in ready:
                        self._hear(worker)
                    elif worker.end in ready:
                        self._bury(worker)
        except BaseException:
            for worker in self._workers:
                if worker.connection:
                    worker.connection.close()
                    os.kill(worker.pid, signal.SIGINT)
                    os.waitpid(worker.pid, 0)
            raise

    def _start(self, worker: _Worker) -> None:
        worker.connection, its = Pipe()
        self._running[self._workers.index(worker)] = worker.todo[0]
        sys.stdout.flush()
        worker.pid = os.fork()
        if worker.pid == 0:
            for other in self._workers:
                if other.connection:
                    other.connection.close()
            _end_after(lambda: self._work(self._workers.index(worker), its))
        its.close()
        worker.end = os.pidfd_open(worker.pid)
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        """Give it its next tests; none says that there are no more."""
        longest = max((each.todo for each in self._workers), key=len)
        if not worker.todo:
            worker.todo.extendleft(longest.pop() for _ in range((len(longest) + 1) // 2))
        left = sum(len(each.todo) for each in self._workers)
        some = min(_AT_ONCE, len(worker.todo), left // (8 * len(self._workers)) + 1)
        stop = self._session.shouldfail or self._session.shouldstop
        given = [] if stop else [worker.todo.popleft() for _ in range(some)]
        worker.told_to_end = not given
        worker.given += given
        assert worker.connection
        with contextlib.suppress(OSError):  # that it is gone is seen by its end
            worker.connection.send(given)

    def _hear(self, worker: _Worker) -> None:
        """Tell of the tests that it has run, and give it others."""
        assert worker.connection
        try:
            done, told = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        worker.given = [test for test in worker.given if test not in done]
        hook = self._session.config.hook
        for what, data in told:
            if what == "report":
                report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
                hook.pytest_runtest_logreport(report=report)
            else:
                message = warnings.WarningMessage(
                    pytest.PytestWarning(data.pop("text")), pytest.PytestWarning, *data.pop("place")
                )
                hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": message, **data})
        if not worker.told_to_end:
            self._give(worker)

    def _bury(self, worker: _Worker) -> None:
        """Have another process go on where one died, after the test that it was in."""
        assert worker.connection
        worker.connection.close()
        worker.connection = None
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        os.close(worker.end)
        if worker.told_to_end and not worker.given and not code:
            return
        died_in = self._running[self._workers.index(worker)]
        item = self._session.items[died_in]
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", f"the process of this test ended with {code}", "call"
        )
        item.ihook.pytest_runtest_logreport(report=report)
        worker.todo.extendleft(reversed([test for test in worker.given if test != died_in]))
        worker.given = []
        if worker.todo:
            self._start(worker)

    def _work(self, number: int, connection: Connection[Any, Any]) -> None:
        """Be a process that runs tests."""
        config, items = self._session.config, self._session.items
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are of all processes
        capture.start_global_capturing()
        folder = self._folder / f"{number}-{os.getpid()}"
        folder.mkdir(0o700)
        config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        config.pluginmanager.unregister(name="terminalreporter")
        teller = _Teller(config)
        config.pluginmanager.register(teller)
        teller.told.clear()  # warnings from before are told by now
        waiting: int | None = None
        while True:
            given = connection.recv()
            done = []
            for test in given or [None]:
                if waiting is not None:
                    self._running[number] = waiting
                    following = None if test is None else items[test]
                    config.hook.pytest_runtest_protocol(item=items[waiting], nextitem=following)
                    done.append(waiting)
                waiting = test
            connection.send((done, teller.told))
            teller.told.clear()
            if not given:
                return


class _Teller:
    """What has to be told of tests: of one that passed, once."""

    def __init__(self, config: pytest.Config) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed or self._config.option.durations:
                data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
                self.told.append(("report", data))
        return True

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        said, place = (
            f"{warning_message.category.__name__}: {warning_message.message}",
            (warning_message.filename, warning_message.lineno),
        )
        self.told.append(
            ("warning", {"text": said, "place": place, "when": when, "nodeid": nodeid, "location": location})
        )


def _end_after(work: Any) -> None:
    """Work, and end as Python does, but for taking to pieces what is loaded: that takes seconds."""
    atexit._clear()  # what was registered is the affair of who forked
    code = 1
    try:
        with contextlib.suppress(KeyboardInterrupt, EOFError):
            work()
            code = 0
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)
