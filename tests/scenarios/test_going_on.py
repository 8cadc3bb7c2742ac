"""Coming back to a session: from the command line, and at the start of the REPL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.cli import entry as cli
from agent.frontends.opening_words import past_text
from agent.frontends.repl.repl import run_repl
from agent.frontends.screen import Screen
from agent.protocol.messages import GoalItem
from agent.protocol.outcomes import GoalStatus, GoalSummary
from agent.recording.left_open import LeftOpen
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World

OLD = GoalSummary(goal_id="g", goal="make the report", status=GoalStatus.COMPLETED, exit_code=0)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENT_SESSION_DIR", str(tmp_path / "logs"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        code = cli.main(["exec", "--approve", "low", *arguments])
        return code, capfd.readouterr().err

    return run


def logs(base: Path) -> list[str]:
    return sorted(path.name[11:-6] for path in (base / "logs").glob("*.jsonl"))


def test_exec_in_the_last_session_says_which_one_it_is(program: Callable[..., Any], tmp_path: Path) -> None:
    assert program("--session-id", "weekly", "echo one")[0] == 0
    code, said = program("--session-id", "last", "echo two")
    assert code == 0
    assert "session weekly: 1 goal so far, (echo one) completed; its shell is new (folder, variables), in " in said
    assert logs(tmp_path) == ["weekly"]
    _, said = program("--session-id", "weekly", "echo three")  # the whole id was written: nothing to be told
    assert "so far" not in said


@pytest.mark.thorough
def test_a_name_in_a_script_is_that_name(program: Callable[..., Any], tmp_path: Path) -> None:
    program("--session-id", "job-10", "echo one")
    program("--session-id", "job-1", "echo two")
    assert logs(tmp_path) == ["job-1", "job-10"]


def test_no_last_session_is_an_error(program: Callable[..., Any], tmp_path: Path) -> None:
    code, said = program("--session-id", "last", "echo one")
    assert code != 0
    assert "there is no other one" in said or "last" in said
    assert logs(tmp_path) == []


class Typed:
    """Keys for the REPL."""

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal

    def go(self, world: World, screen: Screen, *lines: str) -> str:
        async def main() -> None:
            task = asyncio.ensure_future(run_repl(world.services, screen))
            for line in lines:
                for _ in range(30):
                    await asyncio.sleep(0.005)
                self.terminal.keys.send_text(line)
            async with asyncio.timeout(60):
                await task

        asyncio.run(main())
        return str(self.terminal.seen)


@pytest.fixture
def typed() -> Any:
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.color_depth import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    from tests.support.fake_terminal import FakeTerminal, Recording

    stream = Recording()
    with create_pipe_input() as keys:
        output = Vt100_Output(
            stream, lambda: Size(24, 100), term="xterm", default_color_depth=ColorDepth.DEPTH_1_BIT, enable_cpr=False
        )
        yield Typed(FakeTerminal(Screen(input=keys, output=output, dead_time=0), keys, stream))


def test_the_repl_says_what_was_come_back_to(typed: Typed, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path, session_id="one")
    opened = world.services.open_session

    def with_past(*given: Any, **more: Any) -> Any:
        context = opened(*given, **more)
        context.history = [GoalItem(goal_id="g", text="make the report")]
        context.earlier_goals = (OLD, replace(OLD, status=GoalStatus.PLANNER_ERROR))
        context.notes = ("the session zero is not there any more",)
        return context

    world.services = replace(world.services, open_session=with_past)
    seen = typed.go(world, typed.terminal.screen, "exit\r")
    assert "session one: 2 goals so far, the last one (make the report) planner error" in seen
    assert "the session zero is not there any more" in seen


def test_a_private_goal_is_not_named_when_its_session_goes_on(typed: Typed, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path, session_id="one")
    context = world.services.open_session("repl", "one")
    context.earlier_goals, context.history = (OLD,), []
    assert past_text(context) == "1 goal so far, completed"


def test_a_goal_left_open_is_offered_once(typed: Typed, tmp_path: Path) -> None:
    offered: list[str] = []
    found = LeftOpen("221403-k3f9mw", "delete \x1b[31mall", 7)
    world = World(FakePlanner(say()), tmp_path)

    def first(offer: LeftOpen) -> bool:
        offered.append(offer.key)
        return len(offered) == 1

    world.services = replace(world.services, left_open=lambda besides: found, first_offer=first, first_run=False)
    seen = typed.go(world, typed.terminal.screen, "exit\r")
    assert "session 221403-k3f9mw ended without warning in the middle of" in seen
    assert ":resume continues" in seen
    assert "\x1b[31mall" not in seen
    assert offered == ["221403-k3f9mw:7"]


def test_somebody_who_names_a_session_is_offered_none(tmp_path: Path) -> None:
    from agent.frontends.repl.background_loading import left_open_line

    world = World(FakePlanner(say()), tmp_path, session_id="one")
    world.services = replace(world.services, left_open=lambda besides: LeftOpen("x", "y", 1))
    assert left_open_line(world.services, "one") == ""
