"""Whatever a command does to a tree, doing the steps that were read to a copy of it gives what the overlay showed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import FAITHFUL, FOR_USERS, PLAIN, OverlayWorld, in_memory, why_not
from tests.support.reference_commit import apply, copy_tree
from tests.support.tree_operations import Listing, differences, listing
from tests.support.tries import sampled, tries

CASES = int(os.environ.get("AGENT_TEST_TREES", tries(30, 8)))


METACOPY = FAITHFUL.replace("metacopy=off", "metacopy=on")


@pytest.fixture(params=[FAITHFUL, PLAIN, FOR_USERS, METACOPY], ids=["faithful", "plain", "user", "metacopy"])
def world(request: pytest.FixtureRequest) -> Iterator[OverlayWorld]:
    if reason := why_not(request.param):
        pytest.skip(reason)
    made = OverlayWorld(request.param, in_memory())
    yield made
    made.close()


def _comparable(found: Listing, world: OverlayWorld) -> Listing:
    """Without what the overlay itself shows wrongly: for ordinary users, names of one file have inode numbers of their own."""
    if not world.user:
        return found
    return {path: {key: value for key, value in entry.items() if key != "first_name"} for path, entry in found.items()}


@sampled
@pytest.mark.few(1)
def test_random_changes_are_read_faithfully(world: OverlayWorld) -> None:
    names_stay_one_file = "index=on" in world.options
    for seed in range(CASES):
        world.new_case()
        world.grow(seed, links=names_stay_one_file)
        copy = os.fsencode(world.scratch) + b"/copy"
        copy_tree(os.fsencode(world.lower), copy)
        before = listing(os.fsencode(world.lower))
        done = world.change(seed)
        result = read_steps([world.layer()])
        assert not result.obstacle
        apply(result.steps, os.fsencode(world.lower), copy)
        said = differences(_comparable(done["listing"], world), _comparable(listing(copy), world))
        assert not said, f"seed {seed}: {done['log']}\n" + "\n".join(said) + "\n" + "\n".join(map(str, result.steps))
        assert listing(os.fsencode(world.lower)) == before
