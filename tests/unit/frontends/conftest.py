"""Fixtures of the front ends' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.frontends.screen import Screen
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, Recording


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[FakeTerminal]:
    stream = Recording()
    with create_pipe_input() as keys:
        output = Vt100_Output(
            stream, lambda: Size(24, 80), term="xterm", default_color_depth=ColorDepth.DEPTH_1_BIT, enable_cpr=False
        )
        yield FakeTerminal(Screen(input=keys, output=output), keys, stream)


@pytest.fixture
def processes() -> FakeProcesses:
    return FakeProcesses()
