"""`sessions replay` through its public door: printed without a terminal, played on one."""

from __future__ import annotations

import asyncio
import functools
import json
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agent.cli.arguments import parse
from agent.frontends.sessions.replay import run
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.records import Record, encode
from tests.support.fakes import FakePlanner
from tests.support.front_services import World
from tests.support.pictured_session import hostile, pictured
from tests.support.terminal import ROOT, Terminal

PROGRAM = [sys.executable, str(ROOT / "agent_shell.py")]


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that waits in a loop of its own."""

    @functools.wraps(test)
    def run_it(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run_it


def log(folder: Path, records: list[Record]) -> str:
    path = folder / "demo.jsonl"
    path.write_bytes(b"".join(encode(record) for record in records))
    return str(path)


async def replay(folder: Path, *words: str, **settings: object) -> int:
    world = World(FakePlanner(), folder, session_dir=str(folder / "sessions"), **settings)
    return await run(world.services, parse("sessions", ["replay", *words]))


@awaited
async def test_without_a_terminal_it_is_printed_at_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert await replay(tmp_path, log(tmp_path, pictured())) == 0
    told = capfd.readouterr().out
    assert "❯ which files here are the largest\n" in told
    assert "$ rm -rf build/cache  [medium: deletes a folder and all that is in it]  (edited)\n" in told
    assert "\x1b" not in told


@awaited
async def test_nothing_hostile_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    await replay(tmp_path, log(tmp_path, hostile()))
    told = capfd.readouterr().out
    assert "\x1b" not in told
    assert "\u202e" not in told


@awaited
async def test_one_goal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path, pictured())
    for wanted in ("8", "-1"):
        assert await replay(tmp_path, "--goal", wanted, path) == 0
        told = capfd.readouterr().out
        assert "❯ what is a lexer?" in told
        assert "largest" not in told
    for wanted in ("9", "0", "-9"):
        with pytest.raises(NotFound, match="goal"):
            await replay(tmp_path, "--goal", wanted, path)


@awaited
async def test_json_is_one_object_a_frame(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    await replay(tmp_path, "--idle", "1.5", log(tmp_path, pictured()), json=True)
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert next(row["goal"] for row in rows if "goal" in row) == "which files here are the largest"
    assert all(0 <= row["delay"] <= 1.5 for row in rows)
    assert rows[-1]["exit_code"] == 0


@awaited
async def test_what_does_not_fit_together_is_said(tmp_path: Path) -> None:
    path = log(tmp_path, pictured())
    with pytest.raises(InvalidRequest, match="one session"):
        await replay(tmp_path, path, path)
    with pytest.raises(InvalidRequest, match="--check"):
        await replay(tmp_path, "--update", path)


@pytest.mark.parametrize("words", [["--speed", "0"], ["--speed", "x"], ["--idle", "-1"], ["--speed", "nan"]])
def test_numbers_must_be_above_0(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("sessions", ["replay", *words])
    assert "above 0" in capsys.readouterr().err


def test_on_a_terminal_it_is_played_and_the_terminal_is_as_before(tmp_path: Path) -> None:
    path = log(tmp_path, pictured())
    script = 'stty -g; "$@"; echo "ended with $?"; stty -g; echo done'
    program = ["bash", "-c", script, "bash", *PROGRAM, "sessions", "replay", "--speed", "50", "--step", path]
    with Terminal(home=tmp_path, cwd=tmp_path, command=program) as terminal:
        terminal.see("paused .* q quit", where="screen")
        terminal.type(".")
        terminal.see("a newer policy file was read")
        terminal.type(" ")
        terminal.see("❯ remove the build folder")
        terminal.type("q")
        terminal.see("ended with 0")
        terminal.see("\ndone")
        assert "q quit" not in terminal.screen  # the row was given back
        raw = terminal.raw.decode()
        before, after = [line.strip() for line in raw.split("\n") if line.count(":") > 20]
        assert before == after
        assert raw.rindex("\x1b[r") > raw.rindex("\x1b[1;")


@pytest.mark.few(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 0)])
def test_a_signal_that_ends_it_leaves_the_terminal_whole(tmp_path: Path, number: int, code: int) -> None:
    path = log(tmp_path, pictured())
    with Terminal("sessions", "replay", "--goal", "3", path, home=tmp_path, cwd=tmp_path) as terminal:
        terminal.see("goal 3 .* q quit")
        terminal.process.kill(number)
        assert terminal.leaves() == code
        assert b"\x1b[r" in terminal.raw
