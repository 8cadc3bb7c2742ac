"""How commands like this one went, in a line at the confirmation."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.heading import details
from agent.frontends.confirm.plain_confirm import PlainConfirmer
from agent.frontends.repl.repl import run_repl
from agent.memory.model import Experience, experience_line
from tests.support.fake_terminal import FakeTerminal, request_for
from tests.support.fakes import FakePlanner, run, say
from tests.support.front_services import World


def test_it_is_one_dim_line_of_the_details() -> None:
    line = "Commands like this: 12 of 14 succeeded here"
    assert details(request_for("ls", "low"), experience=line)[-1] == [("class:hint", line)]
    assert details(request_for("ls", "low")) == []


def test_too_little_is_not_said() -> None:
    assert experience_line(Experience(worked_here=1, runs_here=1, worked=1, runs=1)) == ""
    assert (
        experience_line(Experience(worked_here=12, runs_here=14, worked=20, runs=30))
        == "Commands like this: 12 of 14 succeeded here"
    )
    assert (
        experience_line(Experience(runs_here=1, worked=3, runs=4))
        == "Commands like this: 3 of 4 succeeded, mostly in other folders"
    )


def test_the_repl_says_it(terminal: FakeTerminal, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def experience(command: str, cwd: str) -> str:
        asked.append((command, cwd))
        return "Commands like this: 2 of 3 succeeded here"

    world = World(FakePlanner(run("change it"), say()), tmp_path)
    world.services = replace(world.services, experience=experience)

    async def main() -> int:
        terminal.keys.send_text("do\r")
        repl = asyncio.ensure_future(run_repl(world.services, terminal.screen))
        async with asyncio.timeout(60):
            while "Enter runs" not in terminal.seen:
                await asyncio.sleep(0.005)
            for keys in ("\x1bOP", "\r", "exit\r"):
                await asyncio.sleep(0.05)
                terminal.keys.send_text(keys)
            return await repl

    assert asyncio.run(main()) == 0
    assert "Commands like this: 2 of 3 succeeded here" in terminal.seen
    assert asked == [("change it", world.contexts[0].cwd)]


def test_a_dumb_terminal_says_it(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(("?", "n"))

    async def answer(screen: object, question: str) -> str:
        return next(answers)

    monkeypatch.setattr("agent.frontends.confirm.plain_confirm.read_plain_line", answer)
    confirmer = PlainConfirmer(
        terminal.screen, experience=lambda command, cwd: "Commands like this: 2 of 3 succeeded here"
    )
    asyncio.run(confirmer.confirm(request_for("ls", "low")))
    assert "Commands like this: 2 of 3 succeeded here" in terminal.seen
