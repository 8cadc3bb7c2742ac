"""How commands like this one went, in a line at the confirmation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent.frontends.confirm.heading import heading
from agent.frontends.confirm.plain_confirm import PlainConfirmer
from agent.frontends.repl.repl import run_repl
from agent.memory.model import Experience, experience_line
from tests.support.fake_terminal import FakeTerminal, request_for
from tests.support.fakes import FakePlanner, run, say
from tests.support.front_services import World


def test_it_is_one_dim_line_above_the_command() -> None:
    line = "used before: 12 of 14 succeeded here"
    assert heading(request_for("ls", "low"), experience=line)[-1] == [("class:hint", line)]
    assert heading(request_for("ls", "low")) == heading(request_for("ls", "low"), experience="")


def test_too_little_is_not_said() -> None:
    assert experience_line(Experience(worked_here=1, runs_here=1, worked=1, runs=1)) == ""
    assert (
        experience_line(Experience(worked_here=12, runs_here=14, worked=20, runs=30))
        == "used before: 12 of 14 succeeded here"
    )
    assert (
        experience_line(Experience(runs_here=1, worked=3, runs=4))
        == "used before: 3 of 4 succeeded, mostly in other folders"
    )


def test_the_repl_says_it(terminal: FakeTerminal, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def experience(command: str, cwd: str) -> str:
        asked.append((command, cwd))
        return "used before: 2 of 3 succeeded here"

    world = World(FakePlanner(run("change it"), say()), tmp_path)
    world.services = replace(world.services, experience=experience)

    async def main() -> int:
        terminal.keys.send_text("do\r")
        repl = asyncio.ensure_future(run_repl(world.services, terminal.screen))
        async with asyncio.timeout(15):
            while not asked:
                await asyncio.sleep(0.005)
            for keys in ("\r", "exit\r"):
                await asyncio.sleep(0.05)
                terminal.keys.send_text(keys)
            return await repl

    assert asyncio.run(main()) == 0
    assert "used before: 2 of 3 succeeded here" in terminal.seen
    assert asked == [("change it", world.contexts[0].cwd)]


def test_a_dumb_terminal_says_it(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(screen: object, question: str) -> str:
        return "n"

    monkeypatch.setattr("agent.frontends.confirm.plain_confirm.read_plain_line", answer)
    confirmer = PlainConfirmer(terminal.screen, experience=lambda command, cwd: "used before: 2 of 3 succeeded here")
    asyncio.run(confirmer.confirm(request_for("ls", "low")))
    assert "used before: 2 of 3 succeeded here" in terminal.seen
