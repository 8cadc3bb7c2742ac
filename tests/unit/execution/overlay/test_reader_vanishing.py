"""Real files that somebody removes while a rehearsal is read: it is read again, and says what is true then."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import FAITHFUL, OverlayWorld, in_memory
from tests.unit.execution.rehearsal.reading import overlay, words

BEFORE = "mkdir -p d/e; echo a > d/f; echo b > d/e/g; echo c > h; ln -s x l"
COMMAND = "echo x >> d/f; chmod 600 h; touch d/e/new; echo z > d/e/g; ln -sfn y l"
CALLS = ("stat", "lstat", "open", "readlink", "getxattr", "listxattr", "listdir", "scandir")


@pytest.fixture(scope="module")
def world() -> Iterator[OverlayWorld]:
    with overlay(FAITHFUL, in_memory()) as made:
        yield made


def removing_at(number: int, act: Callable[[], None], patch: pytest.MonkeyPatch) -> list[str]:
    """Have `act` happen right before call `number` of those that look at files; answers the list of calls."""
    seen: list[str] = []

    def wrapped(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*given: Any, **more: Any) -> Any:
            seen.append(name)
            if len(seen) == number:
                act()
            return real(*given, **more)

        return call

    for name in CALLS:
        patch.setattr(os, name, wrapped(name))
    return seen


@pytest.mark.few(2)
@pytest.mark.parametrize("gone", ["d", "d/f", "d/e", "h", "l"])
def test_whatever_vanishes_whenever(world: OverlayWorld, gone: str) -> None:
    """At every single look at a file, in turn."""
    number = calls = 0
    world.new_case()
    world.prepare(BEFORE)
    world.run(COMMAND)
    place, kept = Path(world.lower), Path(world.lower).with_name("kept")
    shutil.copytree(place, kept, symlinks=True)
    while number <= calls:
        number += 1
        target = place / gone

        def vanish(target: Path = target) -> None:
            os.rename(target, kept.with_name(f"gone-{number}"))  # noqa: B023 - called within this turn

        with pytest.MonkeyPatch.context() as patch:
            seen = removing_at(number, vanish, patch)
            result = read_steps([world.layer()])
        calls = max(calls, len(seen)) if number == 1 else calls
        assert result.obstacle == "", (number, seen[number - 1])
        told = {word[1] for word in words(world, result)}
        assert told <= {"d", "d/f", "d/e", "d/e/g", "d/e/new", "h", "l"}
        if gone != "l":
            assert "l" in told
        if not os.path.lexists(target):
            os.rename(kept.with_name(f"gone-{number}"), target)
    assert calls > 20


def test_a_place_that_was_unmounted_and_where_nothing_changed(world: OverlayWorld) -> None:
    world.new_case()
    world.run("true")
    here = world.layer()
    gone = replace(here, root=here.root + b"-gone")
    assert read_steps([gone]).obstacle == ""
    world.new_case()
    world.run("touch new")
    gone = replace(world.layer(), root=here.root + b"-gone")
    assert "No such file" in read_steps([gone]).obstacle
