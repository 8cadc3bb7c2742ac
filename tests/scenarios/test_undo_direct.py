"""Direct runs taken back by the whole program, as whoever runs the tests and as an ordinary user; and what a kill in the middle leaves."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.scenarios.program import World, until
from tests.support.few import ONE_USER
from tests.support.tree_operations import Listing, differences, listing

pytestmark = ONE_USER

DIRECT = ("exec", "--approve", "medium")


@pytest.fixture(params=["us", "ordinary"])
def place(request: pytest.FixtureRequest) -> World:
    """A world with a few files in its folder."""
    world: World = request.getfixturevalue("world" if request.param == "us" else "ordinary")
    work = world.work
    (work / "a").write_text("one\n")
    (work / "b").write_text("two\n")
    (work / "d").mkdir(mode=0o700)
    (work / "d" / "x").write_text("x")
    os.link(work / "a", work / "same")
    os.chmod(work / "b", 0o640)
    own = getattr(world, "own", None)
    if own is not None:
        own(work)
    os.utime(work / "b", ns=(1, 981_158_400_000_000_001))
    os.utime(work, ns=(1, 981_158_400_000_000_002))
    return world


def tree(world: World) -> Listing:
    return listing(os.fsencode(world.work))


def undoable(world: World) -> list[dict[str, Any]]:
    return [json.loads(line) for line in world.run("undo", "--list", "--json").stdout.splitlines()]


@pytest.mark.parametrize("command", ["sed -i s/one/1/ a b && rm -r d", "chmod 600 b; echo more >> same; touch new"])
def test_a_direct_run_is_taken_back_to_the_byte(place: World, command: str) -> None:
    before = tree(place)
    ended = place.run(*DIRECT, command)
    assert ended.code == 0, ended.stderr
    after = tree(place)
    assert before != after
    (entry,) = undoable(place)
    assert entry["state"] == "committed"
    assert place.run("undo", "--yes").code == 0
    assert not differences(before, tree(place))
    assert place.run("undo", "--yes", entry["id"]).code == 0
    assert not differences(after, tree(place))


def test_a_later_edit_is_not_lost(place: World) -> None:
    assert place.run(*DIRECT, "sed -i s/one/1/ a").code == 0
    (place.work / "a").write_text("mine\n")
    ended = place.run("undo", "--yes")
    assert ended.code == 1
    assert f"{place.work}/a" in ended.stdout + ended.stderr
    assert (place.work / "a").read_text() == "mine\n"


@pytest.mark.thorough
def test_a_kill_in_the_middle_of_a_run_keeps_the_pre_image(place: World) -> None:
    before = tree(place)
    mark = place.work.parent / "began"
    running = place.start(*DIRECT, f"echo lost > b; rm -r d; echo > {mark}; sleep 30")
    until(mark.exists)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    ended = place.run("undo", "--yes")
    assert "agent-shell ended while this ran" in ended.stderr
    assert place.run("undo", "--yes").code == 0
    mark.unlink(missing_ok=True)
    assert not differences(before, tree(place))


@pytest.mark.thorough
def test_what_was_changed_since_is_json_for_programs_and_a_diff_for_people(world: World) -> None:
    (world.work / "a").write_text("one\n")
    world.run(*DIRECT, "echo two >> a")
    (world.work / "a").write_text("one\nmine\n")
    told = world.run("undo", "--yes", "--json")
    refused = json.loads(told.stdout)
    assert told.code == 1 and told.stderr == ""
    assert [conflict["path"] for conflict in refused["conflicts"]] == [str(world.work / "a")]
    assert refused["restored"] == 0 and refused["undo_id"] == undoable(world)[0]["id"]
    assert "-mine" in world.run("undo", "--yes").stderr
    assert (world.work / "a").read_text() == "one\nmine\n"


@pytest.mark.thorough
def test_what_a_killed_process_left_of_a_rehearsal_goes_with_the_next_start(world: World) -> None:
    left = world.home / ".local/state/agent-shell/undo/rehearsals/0123456789abcdef"
    left.mkdir(parents=True, mode=0o700)
    (left / "lock").touch()
    (left / "upper").mkdir()
    assert world.run(*DIRECT, "true").code == 0
    assert not left.exists()
