"""Whatever a command does to a tree: committed, the tree is what the overlay showed; undone, what it was; undone again, what it showed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import pytest

from agent.execution.journal.records import Entry
from agent.execution.journal.store import Journals
from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import FAITHFUL, FOR_USERS, PLAIN, OverlayWorld, why_not
from tests.support.tree_operations import Listing, differences, listing
from tests.support.tries import sampled, tries

CASES = int(os.environ.get("AGENT_TEST_TREES", tries(25, 8)))
FIRST = int(os.environ.get("AGENT_TEST_FIRST_TREE", "1000"))
RUN = Entry("", "2026-01-01T00:00:00Z", "something", "/")


@pytest.fixture(params=[FAITHFUL, PLAIN, FOR_USERS], ids=["faithful", "plain", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[OverlayWorld]:
    if reason := why_not(request.param):
        pytest.skip(reason)
    made = OverlayWorld(request.param)
    yield made
    made.close()


def inodes(root: bytes) -> dict[bytes, int]:
    """Inode numbers by path."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            found[path] = os.lstat(path).st_ino
    return found


def shut(tree: Listing) -> bool:
    """Whether there are folders that their owner may not enter or change (the overlay's child may, by its capabilities)."""
    modes = [int(facts["mode"], 8) for facts in tree.values()]
    return any(stat.S_ISDIR(mode) and mode & 0o700 != 0o700 for mode in modes)


def visible(tree: Listing, names_stay_one_file: bool) -> Listing:
    """Without an index an overlay shows two inode numbers for what will be one file."""
    if names_stay_one_file:
        return tree
    return {path: {key: value for key, value in facts.items() if key != "first_name"} for path, facts in tree.items()}


@sampled
@pytest.mark.few(1)
def test_commit_undo_and_undo_of_undo(world: OverlayWorld) -> None:
    names_stay_one_file = world.options == FAITHFUL
    journals = Journals(str(world.base / "state"), keep_bytes=1 << 20)
    for seed in range(FIRST, FIRST + CASES):
        world.new_case()
        world.grow(seed, links=names_stay_one_file)
        real = os.fsencode(world.lower)
        try:
            before, numbers = listing(real), inodes(real)
        except PermissionError:
            continue  # folders that not even their owner may enter; root may
        shown = world.change(seed)
        if os.geteuid() != 0 and (shut(before) or shut(shown["listing"])):
            continue
        result = read_steps([world.layer()])
        story = f"seed {seed}: {shown['log']}\n" + "\n".join(map(str, result.steps)) + "\n"
        committed = journals.commit([world.layer()], result.steps, RUN)
        after = listing(real)
        said = differences(*(visible(each, names_stay_one_file) for each in (shown["listing"], after)))
        assert not said, story + "\n".join(said)
        assert journals.conflicts(committed.undo_id) == (), story
        journals.turn(committed.undo_id)
        said = differences(before, listing(real))
        assert not said, story + "\n".join(said)
        assert inodes(real) == numbers, story
        assert journals.conflicts(committed.undo_id) == (), story
        journals.turn(committed.undo_id)
        said = differences(after, listing(real))
        assert not said, story + "\n".join(said)
