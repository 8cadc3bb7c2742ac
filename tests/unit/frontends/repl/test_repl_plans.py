"""A plan at the prompt: seen as a whole, step by step at the confirmation, stopped with Ctrl-C, gone on with."""

from __future__ import annotations

from pathlib import Path

from agent.frontends.repl.repl import run_repl
from agent.protocol.events.goal import GoalFinished
from agent.protocol.replies import Alternative, Command, Plan, PlanStep
from tests.support.fake_terminal import FakeTerminal, typed
from tests.support.fakes import FakePlanner, FakeRecorder, say
from tests.support.front_services import World

STEPS = (("make it", "mk out"), ("fill it", "fill out"), ("list it", "ls out"))
PLAN = Plan(message="", steps=tuple(PlanStep(goal=goal, command=command) for goal, command in STEPS))


def go(terminal: FakeTerminal, world: World, *keys: str) -> None:
    typed(terminal, lambda: run_repl(world.services, terminal.screen), *keys, pause=0.06)


def ran(world: World) -> list[str]:
    return [command.command for command in world.executor.ran]


def test_ctrl_c_at_a_step_leaves_the_rest_and_resume_goes_on_there(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(PLAN, say("done")), tmp_path)
    go(terminal, world, "make, fill and list\r", "\r", "\x03", ":resume\r", "\r", "\r", ":resume\r", "exit\r")
    assert ran(world) == ["mk out", "fill out", "ls out"]
    assert "step 1/3" in terminal.seen and "step 3/3" in terminal.seen
    recorder = world.contexts[0].recorder
    assert isinstance(recorder, FakeRecorder)
    endings = [event.status for event in recorder.only(GoalFinished)]  # type: ignore[attr-defined]
    assert endings == ["cancelled", "completed"]


def test_another_command_by_its_number_after_the_goal(terminal: FakeTerminal, tmp_path: Path) -> None:
    first = Command(
        command="ls a", reading="list · a", alternatives=(Alternative(command="ls b", reason="if b is meant"),)
    )
    world = World(FakePlanner(first, say("there")), tmp_path)
    go(
        terminal,
        world,
        "list it\r",
        "\r",
        ":alternatives\r",
        ":alternatives 1\r",
        "\r",
        ":alternatives 1\r",
        "\r",
        "exit\r",
    )
    assert ran(world) == ["ls a", "ls b", "ls b"]
    assert "if b is meant" in terminal.seen
