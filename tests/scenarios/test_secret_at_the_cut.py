"""A secret that lies across the place where kept output is cut must not be left there in two halves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.program import World, chat, command

HEAD, TAIL = 64 * 1024, 256 * 1024
SECRET = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"


def printing(folder: Path, before: int, after: int, *, newline: bool) -> str:
    """A command that prints the secret `before` bytes after the start and `after` bytes before the end."""
    filler = ("x" * 79 + "\n") if newline else "x y "
    text = (filler * (before // len(filler) + 1))[: before - 1] + " " + SECRET + "\n"
    if after:
        text += (filler * (after // len(filler) + 1))[: after - 1] + "\n"
    (folder / "out.txt").write_text(text)
    return "cat out.txt"


def pieces(text: str, size: int = 12) -> list[str]:
    return [SECRET[at : at + size] for at in range(4, len(SECRET) - size) if SECRET[at : at + size] in text]


@pytest.mark.parametrize("newline", [True, False])
@pytest.mark.parametrize("inside", [8, 20, 39])
@pytest.mark.parametrize("after", [0, TAIL + 500_000])
@pytest.mark.few(1)
def test_across_the_end_of_the_head(world: World, inside: int, after: int, newline: bool) -> None:
    script = world.scripted(command(printing(world.work, HEAD - inside, after, newline=newline)), chat("done"))
    world.run(*script, "--approve", "low", "print it")
    log = "".join(path.read_text() for path in world.logs())
    assert pieces(log) == []


@pytest.mark.thorough
@pytest.mark.parametrize("newline", [True, False])
@pytest.mark.parametrize("inside", [14, 39])
def test_across_the_start_of_the_tail(world: World, inside: int, newline: bool) -> None:
    """What was dropped before the tail may have held the beginning."""
    folder = world.work
    text = printing(folder, 700_000, TAIL - inside, newline=newline)
    script = world.scripted(command(text), chat("done"))
    world.run(*script, "--approve", "low", "print it")
    assert pieces(json.dumps(world.events())) == []
