"""Sessions are opened away from the loop, and nobody who gives up meanwhile leaves a log without its end."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.engine.context import RequestContext
from agent.protocol.errors import NotFound
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World


def test_a_session_is_opened_off_the_loop(tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    threads: list[threading.Thread] = []

    def watched(*given: Any, **named: Any) -> RequestContext:
        threads.append(threading.current_thread())
        return world.services.open_session(*given, **named)

    services = replace(world.services, open_session=watched)
    ctx = asyncio.run(services.opened("cli", "mine"))
    assert ctx is world.contexts[0] and ctx.session_id == "mine"
    assert threads[0] is not threading.main_thread()
    with pytest.raises(NotFound):
        asyncio.run(services.opened("cli", "missing"))


def test_who_gives_up_while_it_is_opened_leaves_it_closed(tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    begun, go = threading.Event(), threading.Event()

    def slow(*given: Any, **named: Any) -> RequestContext:
        begun.set()
        go.wait(60)
        return world.services.open_session(*given, **named)

    services = replace(world.services, open_session=slow)

    async def give_up() -> None:
        opening = asyncio.ensure_future(services.opened("cli"))
        await asyncio.to_thread(begun.wait, 60)
        opening.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(give_up())
    (ctx,) = world.contexts
    assert ctx.closed
