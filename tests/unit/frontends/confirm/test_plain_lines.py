"""Questions on a terminal without an editor: what was typed before one stood there is no answer to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from prompt_toolkit.input import create_pipe_input

from agent.frontends.confirm.plain_confirm import PlainConfirmer
from agent.frontends.confirm.questions import read_plain_line
from agent.frontends.screen import Screen
from agent.protocol.confirmations import CancelGoal, Confirmation
from tests.support.fake_terminal import FakeTerminal, rate_by_word, request_for

NEVER = 1000.0  # seconds: nobody has read the question by then


@pytest.fixture
def keyboard(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Screen, int]]:
    """A dumb terminal, and where what is typed at it goes in."""
    ours, its = os.openpty()
    with create_pipe_input() as source:
        monkeypatch.setattr(source, "fileno", lambda: its)
        yield replace(terminal.screen, input=source, dumb=True, dead_time=0), ours
    os.close(ours)
    os.close(its)


def ends(terminal: FakeTerminal, screen: Screen, ours: int, *lines: str) -> str | None:
    """The answer to a question where each line is typed when it stands there (again); None where that leaves it open."""

    async def typing() -> str | None:
        asking = asyncio.ensure_future(read_plain_line(screen, "sure?"))

        async def asked(times: int) -> None:
            while not asking.done() and terminal.seen.count("sure?: ") < times:
                await asyncio.sleep(0)

        for number, line in enumerate(lines, 1):
            await asked(number)
            os.write(ours, line.encode())
        await asked(len(lines) + 1)
        if asking.done():
            return asking.result()
        asking.cancel()
        return None

    return asyncio.run(typing())


def test_a_line_from_before_waits_for_the_next_goal(keyboard: tuple[Screen, int], terminal: FakeTerminal) -> None:
    screen, ours = keyboard
    os.write(ours, b"y\nand more\n")
    assert ends(terminal, screen, ours, "n\n") == "n"
    assert screen.typed_ahead() == "y\nand more"


def test_a_line_that_comes_before_anybody_can_have_read_it_asks_again(
    keyboard: tuple[Screen, int], terminal: FakeTerminal
) -> None:
    screen, ours = keyboard
    screen.dead_time = NEVER
    assert ends(terminal, screen, ours, "y\n", "y\n") is None
    assert screen.typed_ahead() == "y\ny"
    assert terminal.seen.count("sure?: ") == 3


def test_answers_of_the_terminal_are_no_part_of_a_line(keyboard: tuple[Screen, int], terminal: FakeTerminal) -> None:
    screen, ours = keyboard
    assert ends(terminal, screen, ours, "\x1b[?62cn\x1b]ly\x1b\\\n") == "n"


def test_what_interrupts_a_question_ends_its_line(keyboard: tuple[Screen, int], terminal: FakeTerminal) -> None:
    screen, _ = keyboard

    async def interrupted() -> None:
        asking = asyncio.ensure_future(read_plain_line(screen, "sure?"))
        while "sure?: " not in terminal.seen:
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])

    asyncio.run(interrupted())
    assert terminal.seen.endswith("sure?: \n")


def test_the_end_of_input_ends_the_line_of_the_question(keyboard: tuple[Screen, int], terminal: FakeTerminal) -> None:
    screen, ours = keyboard
    assert ends(terminal, screen, ours, "\x04") is None
    assert terminal.seen.replace("\r", "") == "sure?: \n"


def test_of_two_lines_at_once_only_the_first_is_an_answer(keyboard: tuple[Screen, int], terminal: FakeTerminal) -> None:
    """`?` asks again; the `y` that came with it says nothing about what it shows."""
    screen, ours = keyboard

    async def answer() -> Confirmation:
        asking = asyncio.ensure_future(PlainConfirmer(screen, rate_by_word).confirm(request_for("ls a")))
        while "y runs it" not in terminal.seen:
            await asyncio.sleep(0)
        os.write(ours, b"?\ny\n")
        while "y" not in "".join(screen.ahead):
            await asyncio.sleep(0)
        os.write(ours, b"\x04")
        return await asking

    assert asyncio.run(answer()) == CancelGoal()
