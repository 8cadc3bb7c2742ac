"""Answers of a terminal are no keys: wherever they are cut, nothing of them reaches a prompt."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest
from prompt_toolkit.input import create_input
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.output import DummyOutput

from agent.frontends.confirm.questions import ask_words
from agent.frontends.screen import Screen
from agent.frontends.terminal_answers import KeysOnly, without_answers
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal, typed

ANSWERS = {
    "what it is": "\x1b[?62;22;52c",
    "which version": "\x1b[>41;354;0c",
    "where the cursor is": "\x1b[24;80R",
    "where the cursor is, on which page": "\x1b[?24;80;1R",
    "that it is well": "\x1b[0n",
    "how large it is": "\x1b[8;24;80t",
    "that it was resized": "\x1b[48;24;80;480;800t",
    "which mode is on": "\x1b[?2026;2$y",
    "which keys it sends": "\x1b[?5u",
    "its title": "\x1b]lrm -rf build\x1b\\",
    "its colour": "\x1b]11;rgb:0000/0000/0000\x07",
    "what was copied": "\x1b]52;c;cm0gLXJmIC8=\x1b\\",
    "its name": "\x1bP>|xterm(370)\x1b\\",
    "a setting": "\x1bP1$r0m\x1b\\",
    "what it can": "\x1bP1+r544e=787465726d\x1b\\",
    "that a picture is there": "\x1b_Gi=31;OK\x1b\\",
    "that it has the focus": "\x1b[I",
    "that it has lost it": "\x1b[O",
    "where the mouse is": "\x1b[<35;20;10M",
    "where the mouse is, as it was told long ago": "\x1b[M yy",
    "a theme": "\x1b[?997;1n",
    "a key of another protocol": "\x1b[13;1:1u",
    "in eight bits": "\x9b?62;22c",
    "in eight bits, its title": "\x9dly\x9c",
}


def keys(*pieces: str, parser: type[Vt100Parser] = KeysOnly) -> list[tuple[str, str]]:
    """The keys that are made of what comes in pieces, and then comes no more."""
    found: list[KeyPress] = []
    reading = parser(found.append)
    for piece in pieces:
        reading.feed(piece)
    reading.flush()
    return [(getattr(press.key, "value", press.key), press.data) for press in found]


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_nothing_of_an_answer_is_a_key(answer: str) -> None:
    for at in range(len(answer)):
        assert keys("a" + answer[:at], answer[at:] + "b") == [("a", "a"), ("b", "b")], at
    assert without_answers(f"a{answer}b") == "ab"


@pytest.mark.parametrize("answer", [ANSWERS["its title"], ANSWERS["what it is"]])
def test_an_answer_without_its_end_is_dropped(answer: str) -> None:
    assert keys("a", answer[:-2]) == [("a", "a")]


def test_every_key_is_what_it_was() -> None:
    for sequence in ANSI_SEQUENCES:
        if sequence == "\x9b":
            continue
        for pieces in ((sequence,), tuple(sequence), ("x", sequence, "y"), ("\x1b" + sequence,)):
            assert keys(*pieces) == keys(*pieces, parser=Vt100Parser), pieces


@each("text", ["\x1b", "\x1ba", "\x1b]", "\x1bP", "\x1b[", "\x1b\r", "\x1b\x1b", "text\r", "\x1b]5\r", "é中"])
def test_keys_with_escape_are_keys(text: str) -> None:
    assert keys(text) == keys(text, parser=Vt100Parser)
    assert keys("\x9b") == keys("\x9b", parser=Vt100Parser)


@each("pasted", ["\x1b[?62c", "\x1b]lx\x1b\\", "a\x9bb"])
def test_what_is_pasted_stays_as_it_is(pasted: str) -> None:
    assert keys(f"\x1b[200~{pasted}\x1b[201~\x1b[?62cy") == [("<bracketed-paste>", pasted), ("y", "y")]
    assert keys("\x1b[200~" + pasted, "\x1b[201~") == [("<bracketed-paste>", pasted)]


@pytest.mark.parametrize("answer", ["\x1b]ly\x1b\\", "\x1b[?62;22c", "\x1bP>|y\x1b\\"])
def test_at_a_question_only_what_is_typed_counts(terminal: FakeTerminal, answer: str) -> None:
    assert typed(terminal, lambda: ask_words(terminal.screen, "sure?"), f"n{answer}o{answer}\r") == "no"


def test_an_answer_to_our_own_question_keeps_its_place_among_the_keys() -> None:
    found: list[KeyPress] = []
    reading = KeysOnly(found.append)
    reading.tried, reading.asked = True, 2
    for piece in ("a\x1b[", "0nb\x1b[0n", "c\x1b[0n"):
        reading.feed(piece)
    assert [press.data for press in found] == ["a", "1", "b", "2", "c"]


def test_trying_whether_it_answers_is_no_question() -> None:
    found: list[KeyPress] = []
    reading = KeysOnly(found.append)
    reading.feed("\x1b[0n")
    assert not reading.answers
    reading.tried = True
    reading.feed("\x1b[0na")
    assert reading.answers and [press.data for press in found] == ["a"]


@pytest.fixture
def own_terminal() -> Iterator[Screen]:
    """A screen on a terminal of its own, at whose other end nobody is."""
    other, own = os.openpty()
    with open(own, closefd=True) as file:
        yield Screen(input=create_input(file), output=DummyOutput())
    os.close(other)


def test_a_terminal_that_was_tried_and_did_not_answer_is_not_waited_for(own_terminal: Screen) -> None:
    assert own_terminal.ask_terminal()[1] > 0
    own_terminal.input.vt100_parser.tried = False
    own_terminal.try_terminal()
    assert own_terminal.ask_terminal() == (0, 0.0)


def test_one_that_answered_is(own_terminal: Screen) -> None:
    own_terminal.try_terminal()
    own_terminal.input.vt100_parser.feed("\x1b[0n")
    number, seconds = own_terminal.ask_terminal()
    assert number == 1 and seconds > 1


def test_an_answer_that_came_with_keys_from_before_a_question_counts() -> None:
    other, own = os.openpty()
    with open(own, closefd=True) as file, open(other, "wb", buffering=0) as keyboard:
        screen = Screen(input=create_input(file), output=DummyOutput())
        screen.try_terminal()
        keyboard.write(b"and then\x1b[0n")
        screen.set_aside_typed_ahead()
        assert screen.typed_ahead() == "and then"
        assert screen.ask_terminal() == (1, 5.0)
        keyboard.write(b"\x1b[0n")
        screen.set_aside_typed_ahead()
        screen.ask_terminal()
        screen.input.vt100_parser.feed("\x1b[0n")
        assert screen.input.vt100_parser.answered == screen.input.vt100_parser.asked == 2


def test_what_runs_next_reads_no_answer_of_the_terminal() -> None:
    other, own = os.openpty()
    with open(own, closefd=True) as file, open(other, "wb", buffering=0) as keyboard:
        screen = Screen(input=create_input(file), output=DummyOutput())
        screen.try_terminal()
        keyboard.write(b"ab\x1b[0nc")
        asyncio.run(screen.first_answer())
        assert "".join(press.data for press in get_typeahead(screen.input)) == "abc"
        assert screen.ask_terminal() == (1, 5.0)
