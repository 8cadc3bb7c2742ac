"""Workers that are killed, share tasks, or take over those of one that died."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.conversation.framework.state.ports import TaskReport
from tests.support.task_world import (
    KILL_POINTS,
    STEPS,
    TaskPlace,
    definition,
    effects,
    ended,
    memory,
    until,
)
from tests.unit.conversation.background.test_task_backends import LASTING, placed

ROOT = Path(__file__).parents[4]


@pytest.fixture(params=LASTING)
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TaskPlace]:
    with placed(request.param, tmp_path) as made:
        yield made


def _program(place: TaskPlace, kill_at: str, *command: str) -> subprocess.Popen[str]:
    argv = (
        sys.executable,
        "-m",
        "tests.support.task_world",
        place.kind,
        place.url,
        str(place.folder),
        kill_at,
        *command,
    )
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.thorough
@pytest.mark.covers("S3-92")
def test_a_kill_at_each_step_loses_nothing_and_does_nothing_twice(lasting: TaskPlace) -> None:
    for point in KILL_POINTS:
        killed = _program(lasting, point, "run", point)
        _, error = killed.communicate(timeout=300)
        assert killed.returncode == -signal.SIGKILL, error
    lasting.pass_leases()
    told, error = _program(lasting, "", "run", *KILL_POINTS).communicate(timeout=300)
    assert told == "done <one> <two> <three>\n" * len(KILL_POINTS), error
    counts = Counter(effects(lasting.folder))
    for point in KILL_POINTS:
        for step in STEPS:  # only the step that it was killed in is done again
            assert counts[f"{point} {step}"] == (2 if point == f"in {step}" else 1)


@pytest.mark.thorough
@pytest.mark.covers("S3-92")
def test_two_workers_share_two_hundred_tasks(lasting: TaskPlace) -> None:
    async def dispatch() -> list[str]:
        backend = lasting.backend(at_once=0)
        return [await backend.dispatch(definition("together"), memory(f"s{number}")) for number in range(200)]

    async def wait(handles: list[str]) -> set[str]:
        backend = lasting.backend(at_once=0)
        return {(await ended(backend, handle)).status for handle in handles}

    handles = asyncio.run(dispatch())
    workers = [_program(lasting, "", "serve") for _ in range(2)]
    try:
        assert asyncio.run(wait(handles)) == {"done"}
    finally:
        for each in workers:
            each.terminate()
            each.communicate(timeout=300)
    left = [line.split(" by ") for line in effects(lasting.folder)]
    assert sorted(session for session, _ in left) == sorted(f"s{number}" for number in range(200))
    assert {int(who) for _, who in left} == {each.pid for each in workers}


@pytest.mark.thorough
@pytest.mark.covers("S3-92")
def test_the_work_of_a_worker_that_died_is_taken_over(lasting: TaskPlace) -> None:
    async def dispatch() -> str:
        backend = lasting.backend(at_once=0)
        handle: str = await backend.dispatch(definition("stuck"), memory())
        return handle

    async def take_over(handle: str) -> TaskReport:
        heir = TaskPlace(lasting.kind, lasting.url, lasting.folder)
        try:
            return await ended(heir.backend("s"), handle)
        finally:
            heir.close()

    handle = asyncio.run(dispatch())
    worker = _program(lasting, "", "serve")
    try:
        asyncio.run(asyncio.wait_for(until((lasting.folder / "stuck").exists), 300))
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate(timeout=300)
    lasting.pass_leases()
    (lasting.folder / "go-on").touch()
    assert asyncio.run(take_over(handle)) == TaskReport(status="done", result="one, went on")
    assert effects(lasting.folder) == ["one"]
