"""A number, or the arrows, pick one of the commands that stand above; whatever else is typed is the next goal."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.picking import pick
from agent.protocol.confirmations import Alternative, Approved
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, request_for, typed

CHOICES = tuple(Alternative(command=command) for command in ("ls a", "ls \x1b[2J", "ls c"))
UP, DOWN, ENTER, ESCAPE, TAB = "\x1b[A", "\x1b[B", "\r", "\x1b", "\t"


@pytest.mark.few(5)
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


@pytest.mark.few(1)
@pytest.mark.parametrize("keys", [("3 largest files",), ("1", ENTER), (DOWN, ENTER)])
def test_what_is_typed_before_anybody_can_have_read_it_picks_nothing(
    terminal: FakeTerminal, keys: tuple[str, ...]
) -> None:
    terminal.screen.dead_time = 1000.0
    assert typed(terminal, lambda: pick(terminal.screen, CHOICES), *keys, ESCAPE) == 0
    assert terminal.screen.typed_ahead() == "".join(keys).removeprefix(DOWN).strip()


def test_what_lay_there_before_picks_nothing(terminal: FakeTerminal) -> None:
    store_typeahead(terminal.screen.input, [KeyPress("2", "2"), KeyPress(Keys.ControlM, "\r")])
    assert typed(terminal, lambda: pick(terminal.screen, CHOICES), ESCAPE) == 0
    assert terminal.screen.typed_ahead() == "2"


def test_enter_leaves_only_when_the_slots_are_filled(terminal: FakeTerminal) -> None:
    asked = request_for("cp <source> <target>", "low")
    asked = replace(asked, proposal=replace(asked.proposal, slots=("<source>", "<target>")))
    confirmer = PromptConfirmer(terminal.screen, cast("Any", FakeProcesses()), {}, rate_by_word)
    answer = typed(terminal, lambda: confirmer.confirm(asked), ENTER, "a.txt", TAB, "b.txt", ENTER)
    assert answer == Approved(command="cp a.txt b.txt")
    assert "fill in <source>, <target> first" in terminal.seen
