"""`:rehearse` with a word that is nearly a mode: asked back, not rehearsed as a command of that name."""

from __future__ import annotations

import pytest

from agent.protocol.errors import InvalidRequest
from agent.protocol.events.goal import GoalStarted
from tests.support.command_world import CommandWorld
from tests.support.fakes import FakeExecutor


class World(CommandWorld):
    """A shell with `functions` and `aliases`, as bash prints them."""

    def __init__(self, functions: str = "", aliases: str = "") -> None:
        executor = FakeExecutor()
        executor.functions, executor.aliases = functions, aliases
        super().__init__(executor=executor, rehearse="ask")

    @property
    def rehearsed(self) -> list[str]:
        return [event.goal for event in self.events() if isinstance(event, GoalStarted)]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("autoo", "auto"), ("aut", "auto"), ("atuo", "auto"), ("AUTO", "auto"), ("ofg", "off"), ("aks", "ask")],
)
def test_a_slip_is_asked_back(monkeypatch: pytest.MonkeyPatch, word: str, meant: str) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    world = World()
    with pytest.raises(InvalidRequest, match=f"did you mean `:rehearse {meant}`"):
        world.do(f":rehearse {word}")
    assert world.rehearsed == []


@pytest.mark.parametrize("text", ["autoo x", "true", "a", "automatic", "offset"])
def test_other_words_are_commands(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    world = World()
    world.do(f":rehearse {text}")
    assert world.rehearsed == [text]


@pytest.mark.parametrize(
    "world",
    [
        World("autoo () \n{ \n    :\n}\n"),
        World(aliases="alias autoo='ls'\n"),
        World(aliases="alias x=y\nalias -- autoo=z\n"),
    ],
)
def test_what_the_shell_defines_is_one_too(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    world.do(":rehearse autoo")
    assert world.rehearsed == ["autoo"]


def test_a_mode_is_set_and_shown() -> None:
    world = World()
    world.do(":rehearse auto")
    world.do(":rehearse")
    assert (world.context.rehearse, world.rehearsed) == ("auto", [])
    assert world.told == ["rehearse auto: what writes is rehearsed first, and committed when you say so"]
