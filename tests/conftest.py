"""What holds for all tests: how many cases property tests try, and that nothing is skipped without being said.

An ordinary run tries few, and the same ones each time; `AGENT_TEST_PROFILE=thorough` tries many, and others each time.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from zlib import crc32

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import text

from tests.support.few import chosen
from tests.support.needs import summary
from tests.support.tries import ALL

settings.register_profile("ordinary", max_examples=20 if ALL else 8, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("AGENT_TEST_PROFILE", "ordinary"))
if not ALL:
    # Constants of our modules, which hypothesis tries as values, would be gathered by each process, and differ with what it has loaded.
    providers.is_local_module_file = lambda path: False

# What pyenv puts on PATH asks a dozen programs each time which Python is meant; here it is the one that runs the tests.
_PYTHON = os.path.dirname(os.path.realpath(sys.executable))
os.environ["PATH"] = os.pathsep.join(
    _PYTHON if os.path.basename(each) == "shims" else each for each in os.environ["PATH"].split(os.pathsep)
)

# Modules and tests stay to the end: looking for garbage among them takes half of what collecting costs, in every process.
gc.disable()
# A process of several has told all at its end: to take to pieces what it has loaded takes it seconds.
if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(os._exit, 0)
else:
    atexit.register(gc.unfreeze)


def pytest_collection_finish() -> None:
    text().validate()  # what hypothesis has to know of Unicode is gathered once, before processes are forked
    gc.freeze()
    gc.enable()
    gc.set_threshold(5_000, 20, 100)


def pytest_configure(config: pytest.Config) -> None:
    """Let programs of the tests be ended by every signal: what nohup or a shell's `&` ignores they would inherit, and some never end.

    A handler is not inherited; this process itself goes on as it was told.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as thorough all but `few(n)` of a test's rows; where one stands for all, it is not the first of every table."""
    rows: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few"):
            rows.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, all_rows in rows.items():
        mark = all_rows[0].get_closest_marker("few")
        assert mark
        first = crc32(name.encode()) if mark.args[0] == 1 else 0
        kept = chosen([_values(item) for item in all_rows], mark.args[0], first)
        for number, item in enumerate(all_rows):
            if number not in kept:
                item.add_marker("thorough")


def _values(item: pytest.Item) -> set[tuple[str, int]]:
    call = getattr(item, "callspec", None)
    return set(call.indices.items()) if call else set()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a process of several tell of a test that passes once; to tell of its start, its end and each step takes seconds in all."""
    if not hasattr(item.config, "workerinput") or item.config.option.durations:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report.longrepr for report in terminalreporter.getreports("skipped") if report.longrepr]
    for line in summary(reason[2] if isinstance(reason, tuple) else str(reason) for reason in skipped):
        terminalreporter.write_line(line)
