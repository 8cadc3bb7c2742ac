"""A name that is typed wrong opens no session; one that is meant to be new can be said to be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.frontends.opening_words import opening_lines
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, NotFound
from tests.support.session_world import SessionWorld


def play(world: SessionWorld, act: Callable[[SessionController], Awaitable[None]]) -> None:
    async def main() -> None:
        controller = world.controller("work")
        try:
            await act(controller)
        finally:
            await controller.close()
            await world.services.shutdown()

    asyncio.run(main())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionWorld:
    return SessionWorld(tmp_path, monkeypatch)


@pytest.mark.parametrize("typed", [":session wrok", ":session new", ":resume wrok", ":session wo rk"])
def test_a_slip_of_the_finger_opens_nothing(world: SessionWorld, typed: str) -> None:
    async def act(controller: SessionController) -> None:
        with pytest.raises(CoreError) as said:
            await world.type(controller, typed)
        if isinstance(said.value, NotFound):
            name = typed.split()[1]
            assert said.value.hint == f":session new {name} makes one of that name"
        assert controller.ctx.session_id == "work"

    play(world, act)
    assert len(list(world.logs.glob("*.jsonl"))) == 1


def test_a_new_one_of_a_name(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, ":session new report")
        assert (controller.ctx.session_id, world.told[-1]) == ("report", "new session report")
        for name in ("report", "work"):
            with pytest.raises(InvalidRequest) as said:
                await world.type(controller, f":session new {name}")
            assert said.value.hint == f":session {name} continues it"
        with pytest.raises(InvalidRequest):
            await world.type(controller, ":session new ../../etc")
        await world.type(controller, ":session work")
        assert controller.ctx.session_id == "work"

    play(world, act)
    assert len(list(world.logs.glob("*.jsonl"))) == 2


def test_a_name_of_the_command_line_goes_on_to_make_one_and_says_so(world: SessionWorld) -> None:
    services = world.services
    assert not services.session_is_there("work")

    async def act(controller: SessionController) -> None:
        assert services.session_is_there("work")
        assert opening_lines(controller.ctx, new=True) == ["session work is new"]
        assert opening_lines(controller.ctx) == ["session work: no goals so far"]

    play(world, act)
