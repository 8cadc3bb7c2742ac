"""A command that fails, in the real program with the offline planner: the correction is asked for like any other command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.memory_world import MemoryWorld, proposed


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryWorld:
    found = MemoryWorld(tmp_path, monkeypatch)
    for name in ("a.txt", "notes.txt"):
        (found.work / name).write_text("2\n1\n")
    return found


def test_a_slip_in_an_edit_is_corrected_through_the_gate(world: MemoryWorld) -> None:
    person = world.session("offline", "count the lines of a.txt", edits={"wc -l a.txt": "wc -l nots.txt"})
    assert proposed(person) == ["wc -l a.txt", "wc -l notes.txt"]
    assert "there is no nots.txt" in person.asked[1].proposal.reason


def test_what_is_lost_is_not_guessed(world: MemoryWorld) -> None:
    person = world.session("offline", "count the lines of a.txt", edits={"wc -l a.txt": "rm nots.txt"})
    assert set(proposed(person)) == {"wc -l a.txt"}
    assert (world.work / "notes.txt").exists()
