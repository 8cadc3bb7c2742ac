"""Cycles of the repo agent with a scripted model: what a call costs beside its work, and a cycle in a repository of 50,000 files."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.events.command import CommandFinished
from agent.protocol.records import Record
from benchmarks.figures import Figure
from tests.support.cycle_world import TASKS, CycleWorld, git
from tests.support.fakes import FakeEmitter

_FILES = 50_000
_CALLS = 200
_ASK: tuple[str, dict[str, Any]] = ("ask_question", {"question_text": "?"})


class TimedEmitter(FakeEmitter):
    """Keeps when each event came, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[str, str, float]] = []

    async def emit(self, record: Record) -> None:
        event = record.event
        self.times.append((event.__struct_config__.tag, getattr(event, "name", ""), time.perf_counter()))
        await super().emit(record)

    def durations(self) -> list[tuple[str, float]]:
        """Each call with the seconds that it took."""
        found, began = [], 0.0
        for tag, name, at in self.times:
            if tag == "tool.started":
                began = at
            elif tag == "tool.finished":
                found.append((name, at - began))
        return found


def main() -> list[Figure]:
    """Seconds on the wall: what a person waits for."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name in ("small", "large"):
            Path(folder, name).mkdir()
        small = CycleWorld(Path(folder, "small"), patch)
        overhead = _overhead(small)
        large = CycleWorld(Path(folder, "large"), patch)
        _grow(large)
        checkout = _checkout(large, Path(folder, "alone"))
        whole, own, listing = _cycle(large)
    return [
        Figure("a tool call beside what it does", overhead * 1e3, 0, "ms", "<= 3 ms", overhead <= 0.003),
        Figure("a cycle of 20 calls among 50,000 files, git's checkout left out", own, 0, "s", "<= 3 s", own <= 3),
        Figure("the same with its checkout", whole, checkout, "s", "-", True, "git worktree add"),
        Figure("list_files and search there, p95", listing * 1e3, 0, "ms", "<= 300 ms", listing <= 0.3),
    ]


def _overhead(world: CycleWorld) -> float:
    """Return the median time of a call that reads a file of three bytes."""
    world.emitter = emitter = TimedEmitter()
    world.write({f"file{number}.txt": "hi\n" for number in range(_CALLS)})
    git(world.work, "add", "-A")
    git(world.work, "commit", "-qm", "Files")
    git(world.work, "push", "-q")
    reads = [("retrieve_context_files", {"paths": [f"file{number}.txt"]}) for number in range(_CALLS)]
    world.cycle(*(("read", *reads[at : at + 20]) for at in range(0, _CALLS, 20)), ("stop", _ASK))
    return statistics.median(took for name, took in emitter.durations() if name == "retrieve_context_files")


def _grow(world: CycleWorld) -> None:
    for number in range(_FILES // 500):
        place = world.work / f"part{number % 10}" / f"folder{number}"
        place.mkdir(parents=True)
        for file in range(500):
            (place / f"module{file}.py").write_text(f"def function_{number}_{file}():\n    return {number * file}\n")
    git(world.work, "add", "-A")
    git(world.work, "commit", "-qm", "Grow")
    git(world.work, "push", "-q")


def _checkout(world: CycleWorld, folder: Path) -> float:
    """Return how long git by itself takes to check the repository out into a folder: nobody can begin sooner."""
    began = time.perf_counter()
    subprocess.run(["git", "worktree", "add", "-q", "--detach", str(folder)], cwd=world.work, check=True)
    took = time.perf_counter() - began
    git(world.work, "worktree", "remove", "--force", str(folder))
    return took


def _cycle(world: CycleWorld) -> tuple[float, float, float]:
    """Return the seconds of a cycle without its tests, those without its checkout too, and the p95 of its listings and searches."""
    looks = [
        call
        for number in range(5)
        for call in (
            ("list_files", {"path": f"part{number}"}),
            ("search", {"pattern": f"function_{number}_7\\b"}),
        )
    ]
    done = TASKS.replace("[ ]", "[x]").replace("Status: todo", "Status: review", 1)
    work = [
        ("write_file", {"path": "hello.txt", "content": "hello\n"}),
        ("run_tests", {}),
        ("finish_feature", {"task_id": 1, "feature_id": 1, "title": "hello"}),
        ("retrieve_context_files", {"paths": ["README", "TASKS.md"]}),
        ("write_file", {"path": "bye.txt", "content": "bye\n"}),
        ("write_file", {"path": "TASKS.md", "content": done}),
        ("run_tests", {}),
        ("finish_feature", {"task_id": 1, "feature_id": 2, "title": "bye"}),
        ("submit_for_review", {"task_id": 1, "task_title": "Greet"}),
        ("finish", {}),
    ]
    world.emitter = emitter = TimedEmitter()
    began = time.perf_counter()
    world.cycle(("look", *looks), ("work", *work))
    took = time.perf_counter() - began
    assert world.events("cycle.finished")[-1].reason == "complete", world.results()
    tests = sum(seconds for name, seconds in emitter.durations() if name == "run_tests")
    listings = sorted(seconds for name, seconds in emitter.durations() if name in ("list_files", "search"))
    made = sum(
        each.result.duration
        for each in world.events("command.finished")
        if each.result.duration and _is_checkout(world, each)
    )
    return took - tests, took - tests - made, listings[int(len(listings) * 0.95)]


def _is_checkout(world: CycleWorld, finished: CommandFinished) -> bool:
    proposed = (each.command for each in world.events("command.proposed") if each.command_id == finished.command_id)
    return next(proposed, "").startswith("git worktree add")
