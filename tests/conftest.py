"""What holds for all tests: how many cases property tests try, and that nothing is skipped without being said.

An ordinary run tries few, and the same ones each time; `AGENT_TEST_PROFILE=thorough` tries many, and others each time.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from tests.support.needs import summary

settings.register_profile("ordinary", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("AGENT_TEST_PROFILE", "ordinary"))


def pytest_configure(config: pytest.Config) -> None:
    """Let programs of the tests be hung up on: under nohup they would inherit that it is ignored, and some never end.

    A handler is not inherited; this process goes on, as nohup wants it.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report.longrepr for report in terminalreporter.getreports("skipped") if report.longrepr]
    for line in summary(reason[2] if isinstance(reason, tuple) else str(reason) for reason in skipped):
        terminalreporter.write_line(line)
