"""Command memory under several processes, slow logs, and places that cannot hold it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.memory.comparing import goal_words
from agent.memory.model import Remembered
from agent.memory.service import Memory
from tests.support.memory_world import MemoryWorld, proposed


def memory_of(world: MemoryWorld, state: Path | None = None) -> Memory:
    return Memory(str(world.logs), str(state or world.state), read=goal_words, worked=lambda command, code: code == 0)


def found(memory: Memory, goal: str, cwd: Path) -> list[Remembered]:
    return memory.for_goal(goal_words(goal), str(cwd))[0]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> MemoryWorld:
    with pytest.MonkeyPatch.context() as patch:
        made = MemoryWorld(tmp_path_factory.mktemp("memory"), patch)
        for name in ("one", "two", "three"):
            made.taught(f"greet {name} thing", f"echo {name}")
    return made


@pytest.mark.thorough
def test_processes_that_learn_at_once_learn_the_same(world: MemoryWorld) -> None:
    memories = [memory_of(world) for _ in range(4)]
    threads = [threading.Thread(target=memory.refresh, args=(20,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for memory in memories:
        memory.refresh(20)  # one that found the file taken tries again
        assert [len(found(memory, f"greet {name} thing", world.work)) for name in ("one", "two", "three")] == [1, 1, 1]
        assert memory.size() == (3, 3)
        memory.close()


def test_forgetting_while_it_learns(world: MemoryWorld, tmp_path: Path) -> None:
    (tmp_path / "heads").symlink_to(world.state / "heads")
    memory = memory_of(world, tmp_path)
    memory.refresh(0)
    memory.forget_all()
    assert memory.refresh(20)
    assert memory.size() == (0, 0)
    memory.close()
    again = memory_of(world, tmp_path)
    again.refresh(20)
    assert again.size() == (0, 0)
    again.close()


def test_no_place_is_no_memory_and_no_trouble(world: MemoryWorld, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in its place")
    memory = memory_of(world, tmp_path / "state")
    assert memory.refresh(20)
    assert found(memory, "greet one thing", world.work) == []
    assert memory.experience("echo x", "/").runs == 0
    memory.close()
    assert not memory.refresh(0)  # closed is closed


def test_something_unforeseen_is_no_memory_and_no_trouble(
    world: MemoryWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(goal: str) -> object:
        raise RuntimeError("boom")

    (tmp_path / "heads").symlink_to(world.state / "heads")
    memory = Memory(str(world.logs), str(tmp_path), read=fails, worked=lambda command, code: True)  # type: ignore[arg-type]
    assert memory.refresh(20)
    assert memory.latest("/") == []
    memory.close()
    assert capsys.readouterr() == ("", "")


def test_a_goal_does_not_fail_where_the_memory_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = MemoryWorld(tmp_path, monkeypatch)
    world.state.mkdir(parents=True)
    (world.state / "memory").write_text("a file in its place")
    (world.work / "a.txt").write_text("1\n")
    assert proposed(world.session("offline", "count the lines of a.txt")) == ["wc -l a.txt"]
