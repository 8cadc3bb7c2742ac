"""`:rehearse` with a word that is nearly a mode: asked back, not rehearsed as a command of that name."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.commands.context import Change
from agent.frontends.line import OwnCommand
from agent.frontends.repl.rehearse_commands import rehearse
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest


class Session:
    """What `rehearse` needs of a session: its mode, and what it is told to run."""

    def __init__(self, **functions: str) -> None:
        executor = SimpleNamespace(functions=functions, aliases={})
        self.ctx = SimpleNamespace(rehearse="ask", executor=executor)
        self.ran: list[str] = []

    async def run(self, line: OwnCommand, **_: Any) -> None:
        self.ran.append(line.command)

    async def change(self, change: Change) -> None:
        self.ctx.__dict__.update(change.values)

    def tell(self, text: str) -> None:
        pass

    def take(self, text: str) -> None:
        asyncio.run(rehearse(cast("SessionController", self), text))


@pytest.mark.parametrize(
    ("word", "meant"),
    [("autoo", "auto"), ("aut", "auto"), ("atuo", "auto"), ("AUTO", "auto"), ("ofg", "off"), ("aks", "ask")],
)
def test_a_slip_is_asked_back(monkeypatch: pytest.MonkeyPatch, word: str, meant: str) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    session = Session()
    with pytest.raises(InvalidRequest, match=f"did you mean `:rehearse {meant}`"):
        session.take(word)
    assert session.ran == []


@pytest.mark.parametrize("text", ["autoo x", "true", "a", "automatic", "offset"])
def test_other_words_are_commands(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    session = Session()
    session.take(text)
    assert session.ran == [text]


def test_a_function_of_the_shell_is_one_too() -> None:
    session = Session(autoo="autoo () { :; }")
    session.take("autoo")
    assert session.ran == ["autoo"]


def test_a_mode_is_set() -> None:
    session = Session()
    session.take("auto")
    assert (session.ctx.rehearse, session.ran) == ("auto", [])
