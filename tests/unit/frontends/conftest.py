"""Fixtures of the front ends' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fake_terminal import FakeProcesses, FakeTerminal, open_terminal


@pytest.fixture
def terminal() -> Iterator[FakeTerminal]:
    with open_terminal() as opened:
        yield opened


@pytest.fixture
def processes() -> FakeProcesses:
    return FakeProcesses()
