"""A process beside us: orders in, answer out, no keys, and never left behind."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from agent.execution.process_tree.child_service import ChildService

MODULE = "tests.support.child_service_modules"


def gone(pid: int | None) -> bool:
    assert pid
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_orders_and_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-never")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")

    async def once() -> tuple[dict[str, object], int | None]:
        service = ChildService(MODULE)
        answer = json.loads(await service.start(b'{"a": 1}'))
        assert service.is_running
        pid = service.pid
        await service.end()
        assert not service.is_running
        await service.end()  # again does nothing
        return answer, pid

    answer, pid = asyncio.run(once())
    assert answer["orders"] == {"a": 1}
    assert answer["session"] is True
    assert isinstance(answer["environ"], list)
    assert "OPENROUTER_API_KEY" not in answer["environ"]
    assert "CUDA_VISIBLE_DEVICES" in answer["environ"]
    assert gone(pid)


def test_one_that_crashes_says_why() -> None:
    async def once() -> tuple[bytes, str]:
        service = ChildService(MODULE)
        answer = await service.start(b'{"how": "crash"}')
        await service.end()
        return answer, service.last_words

    answer, words = asyncio.run(once())
    assert answer == b""
    assert "broken file" in words


def test_who_cancels_the_start_ends_it() -> None:
    async def once() -> int | None:
        service = ChildService(MODULE)
        start = asyncio.ensure_future(service.start(b'{"how": "wait"}'))
        while service.pid is None:
            await asyncio.sleep(0.005)
        pid = service.pid
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        return pid

    assert gone(asyncio.run(once()))
