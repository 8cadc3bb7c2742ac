"""`:memory` and `:forget` wait for SQLite away from the loop, and what was recorded as forgotten is forgotten."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from agent.memory.model import Remembered
from agent.protocol.events.session import MemoryForgotten
from tests.support.command_world import CommandWorld
from tests.support.each import each

ITEM = Remembered(
    entry=1, key="k", goal="list files", slots=(), command="ls", at=1_700_000_000_000_000, cwd="/", uses=1, worked=1
)


class SlowMemory:
    """Answers from any thread, and remembers from which."""

    def __init__(self) -> None:
        self.threads: set[str] = set()
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self.threads.add(threading.current_thread().name)
            self.done.append(name)
            return {"latest": [ITEM], "size": (1, 1)}.get(name)

        return call


@each(
    ("line", "does"),
    [(":memory", "size"), (":forget", "forget"), (":forget all", "forget_all"), (":forget ls", "forget")],
)
def test_nothing_of_it_is_done_on_the_loop(line: str, does: str) -> None:
    memory = SlowMemory()
    world = CommandWorld(services={"memory": lambda: memory})
    world.do(line)
    assert does in memory.done
    assert threading.main_thread().name not in memory.threads


def test_what_is_forgotten_is_recorded_before() -> None:
    memory = SlowMemory()
    world = CommandWorld(services={"memory": lambda: memory})
    seen: list[bool] = []
    memory.forget = lambda items: seen.append(  # type: ignore[attr-defined]
        any(isinstance(record.event, MemoryForgotten) for record in world.recorder.records)
    )
    world.do(":forget")
    assert seen == [True]


def test_who_gives_up_while_it_is_forgotten_has_forgotten_it() -> None:
    memory = SlowMemory()
    begun, go = threading.Event(), threading.Event()

    def forget(items: Any) -> None:
        begun.set()
        go.wait(60)
        memory.done.append("forgotten")

    memory.forget = forget  # type: ignore[attr-defined]
    world = CommandWorld(services={"memory": lambda: memory})

    async def give_up() -> None:
        from agent.commands.registry import parse_meta

        run = asyncio.ensure_future(world.run(parse_meta(":forget"), person=world.person))
        await asyncio.to_thread(begun.wait, 60)
        run.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(give_up())
    assert "forgotten" in memory.done
