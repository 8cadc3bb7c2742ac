"""Short forms for tests of the reader: a world with one overlay, and steps as words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.execution.overlay.model import Step
from agent.execution.overlay.reader import ReadResult, read_steps
from agent.execution.rehearsal.present import present
from agent.protocol.rehearsals import Change
from tests.support.overlay_world import OverlayWorld, why_not

Words = tuple[str, ...]


@contextmanager
def overlay(options: str, folder: str | None = None) -> Iterator[OverlayWorld]:
    """A world (in `folder`, see OverlayWorld), or Skipped where there can be none."""
    if reason := why_not(options):
        pytest.skip(reason)
    world = OverlayWorld(options, folder)
    try:
        yield world
    finally:
        world.close()


def read(world: OverlayWorld, before: str, command: str, *, code: int = 0) -> ReadResult:
    """What `command` changed in the tree that `before` made."""
    world.new_case()
    world.prepare(before)
    done = world.run(command)
    assert done["code"] == code, done["said"]
    return read_steps([world.layer()])


def words(world: OverlayWorld, result: ReadResult, *, quiet: bool = False) -> list[Words]:
    """Steps as op, path below the root, and what else there is to say of them."""
    assert not result.obstacle
    return [_words(world, step) for step in result.steps if quiet or not step.quiet]


def _words(world: OverlayWorld, step: Step) -> Words:
    said = [step.op, inside(world, step.path)]
    if step.source is not None:
        said.append(f"from {inside(world, step.source)}")
    if step.link_to is not None:
        said.append(f"link to {inside(world, step.link_to)}")
    said += [word for word in ("whole", "in_place", "quiet") if getattr(step, word)]
    return tuple(said)


def inside(world: OverlayWorld, path: bytes) -> str:
    root = os.fsencode(world.lower)
    assert path == root or path.startswith(root + b"/")
    return os.fsdecode(path[len(root) + 1 :])


def shown(world: OverlayWorld, result: ReadResult) -> dict[str, Change]:
    """Changes by path below the root; the last one where there are several."""
    changes, _, more = present(result)
    assert more == 0
    return {inside(world, os.fsencode(change.path)): change for change in changes}
