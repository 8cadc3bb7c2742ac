"""A fresh session is set as the prelude says, at its first goal and once; and another run is waited for, not without end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from agent.engine.engine import Engine
from agent.library.library import Library
from agent.protocol.commands import Info
from agent.protocol.events.session import SessionChanged, Warned
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.requests import Limits, RunOptions, RunRequest
from tests.support.command_world import CommandWorld


def a_world(tmp_path: Path, *lines: str) -> CommandWorld:
    library = Library(str(tmp_path))
    return CommandWorld(services={"library": lambda: library}, app={"prelude": lines})


def run(world: CommandWorld, given: str = "hello", options: RunOptions | None = None) -> RunOutcome:
    request = RunRequest(input=UserInput.from_text(given), options=options or RunOptions.repl_turn())
    return asyncio.run(Engine(world.app).run(world.context, request, world.emitter, world.confirmer))


def roles_taken(world: CommandWorld) -> list[str]:
    return [event.to for event in world.events() if isinstance(event, SessionChanged) and event.key == "role"]


@pytest.mark.covers("S1-51", "S1-65")
def test_at_the_first_goal_and_once(tmp_path: Path) -> None:
    world = a_world(tmp_path, "role terse")
    world.do(Info())
    assert world.context.role_name == "", "a command alone is no turn"
    run(world)
    assert world.context.role_name == "terse" and "few words" in world.planner.requests[-1].role
    world.do(":exit role")
    run(world)
    assert world.context.role_name == "" and roles_taken(world) == ["terse", ""]


@pytest.mark.parametrize("options", (RunOptions.api_oneshot(), RunOptions.api_session()))
def test_not_for_programs(tmp_path: Path, options: RunOptions) -> None:
    world = a_world(tmp_path, "role terse")
    run(world, options=options)
    assert world.context.role_name == ""


def test_what_the_person_chose_before_stays(tmp_path: Path) -> None:
    world = a_world(tmp_path, "role terse")
    world.do(":role explain")
    run(world)
    assert world.context.role_name == "explain"


def test_what_is_wrong_is_said_and_the_goal_goes_on(tmp_path: Path) -> None:
    world = a_world(tmp_path, ":role nobody", "safety off", "nonsense", "!rm x", " :role terse ")
    assert run(world).exit_code == 0
    said = [event.text for event in world.events() if isinstance(event, Warned)]
    assert [line.split(":")[0] for line in said] == ["prelude"] * 4 and "nobody" in said[0]
    assert world.context.role_name == "terse" and not world.context.safety_off


def test_another_run_is_waited_for_for_so_long(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    options = RunOptions(limits=Limits(wait=0.05))

    async def twice() -> RunOutcome:
        await world.context.lock.acquire()
        request = RunRequest(input=UserInput.from_text("hello"), options=options)
        return await Engine(world.app).run(world.context, request, world.emitter, world.confirmer)

    outcome = asyncio.run(twice())
    assert outcome.error_code == "invalid_state" and world.events() == []
    assert world.context.lock.locked(), "it is still the other's"


def test_who_waits_can_be_cancelled(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    token = CancellationToken()

    async def cancelled() -> RunOutcome:
        await world.context.lock.acquire()
        options = structs.replace(RunOptions(), cancel=token)
        request = RunRequest(input=UserInput.from_text("hello"), options=options)
        asyncio.get_running_loop().call_later(0.05, token.cancel, "enough")
        return await Engine(world.app).run(world.context, request, world.emitter, world.confirmer)

    assert asyncio.run(cancelled()).error_code == "cancelled"
