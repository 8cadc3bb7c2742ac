"""A number, or the arrows, pick one of the commands that stand above; whatever else is typed is the next goal."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace
from prompt_toolkit.input.typeahead import get_typeahead

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.picking import pick
from agent.protocol.decisions import Alternative, Approved
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, request_for, typed

CHOICES = tuple(Alternative(command=command) for command in ("ls a", "ls \x1b[2J", "ls c"))
UP, DOWN, ENTER, ESCAPE, TAB = "\x1b[A", "\x1b[B", "\r", "\x1b", "\t"


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        (("1",), 1),
        (("3",), 3),
        ((DOWN, ENTER), 1),
        ((DOWN, DOWN, ENTER), 2),
        ((UP, ENTER), 3),
        ((DOWN, DOWN, DOWN, DOWN, ENTER), 1),
        ((ENTER,), 0),
        ((ESCAPE,), 0),
        (("\x03",), 0),
        ((DOWN, ESCAPE), 0),
    ],
)
def test_keys(terminal: FakeTerminal, keys: tuple[str, ...], number: int) -> None:
    assert typed(terminal, lambda: pick(terminal.screen, CHOICES), *keys) == number
    assert "\x1b[2J" not in terminal.seen.replace("\x1b[2J\x1b[H", "")


@pytest.mark.parametrize("text", ["l", "4", "0"])
def test_what_is_typed_is_the_next_goal(terminal: FakeTerminal, text: str) -> None:
    assert typed(terminal, lambda: pick(terminal.screen, CHOICES), text) == 0
    assert [press.data for press in get_typeahead(terminal.screen.input)] == [text]


def test_enter_leaves_only_when_the_slots_are_filled(terminal: FakeTerminal) -> None:
    asked = request_for("cp <source> <target>", "low")
    asked = replace(asked, proposal=replace(asked.proposal, slots=("<source>", "<target>")))
    confirmer = PromptConfirmer(terminal.screen, cast("Any", FakeProcesses()), {}, rate_by_word)
    answer = typed(terminal, lambda: confirmer.confirm(asked), ENTER, "a.txt", TAB, "b.txt", ENTER)
    assert answer == Approved(command="cp a.txt b.txt")
    assert "fill in <source>, <target> first" in terminal.seen
