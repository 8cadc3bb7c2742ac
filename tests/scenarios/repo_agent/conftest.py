"""Each scenario of the repo agent has a repository, its remote and a model of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.program import World
from tests.support.fake_llm_server import FakeLLMServer
from tests.support.work_world import WorkWorld


@pytest.fixture
def project(world: World) -> Iterator[WorkWorld]:
    with FakeLLMServer() as server:
        yield WorkWorld(world, server)
