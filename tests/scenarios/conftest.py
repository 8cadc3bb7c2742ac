"""Every scenario has a world of its own and leaves no process behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import World
from tests.support.engine_place import Place


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.leave()


@pytest.fixture
def ordinary() -> Iterator[OrdinaryWorld]:
    """The world of a user who is not root."""
    world = OrdinaryWorld()
    yield world
    try:
        world.leave()
    finally:
        world.remove()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The engine of the program in this process."""
    return Place(tmp_path, monkeypatch)
