"""A paste that says itself that it has ended, and what is typed before a question can have been read: neither answers or sends anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.questions import ask_hidden, ask_words, ask_yes
from agent.protocol.confirmations import CancelGoal
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, request_for, typed
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World
from tests.unit.frontends.repl.test_repl_loop import finished, go

BEGIN, END = "\x1b[200~", "\x1b[201~"
ENTER, CTRL_C, CTRL_U = "\r", "\x03", "\x15"
NEVER = 1000.0  # seconds: no key comes so late that it is none of the paste
# Text that a paste may hold behind its false end: keys that clear, cancel, open a pager or an editor, make a rule, leave, answer.
TAILS = [
    ENTER,
    CTRL_U + "proceed" + ENTER,
    CTRL_C + ":set approve medium" + ENTER,
    "\x1bOQ" + "!touch x" + ENTER,
    "\x1b[18~" + ":!touch x" + ENTER,
    "\x18\x05" + ENTER,
    "\x1b[19~" + ENTER + ENTER,
    "\x1ba" + ENTER,
    "\x04",
    END + ENTER,
    BEGIN + "y" + END + ENTER,
    "y\n",
    "\x1b\r" + ENTER,
    "\x12" + ENTER + ENTER,
]


def pasting(terminal: FakeTerminal) -> None:
    """From now on nothing comes so late that it is no part of a paste."""
    terminal.screen.dead_time = NEVER


def over(terminal: FakeTerminal) -> None:
    """Time has passed."""
    terminal.screen.dead_time = 0
    terminal.screen.end_paste()


@pytest.mark.few(2)
@pytest.mark.parametrize("tail", TAILS)
def test_at_the_goal_prompt_it_sends_nothing(terminal: FakeTerminal, tmp_path: Path, tail: str) -> None:
    world = World(FakePlanner(say("a")), tmp_path)
    keys = BEGIN + "x" + END + tail
    go(terminal, world, lambda: pasting(terminal), keys, lambda: over(terminal), CTRL_C, "exit\r")
    assert (world.executor.ran, finished(world)) == ([], [])
    assert "approve = medium" not in terminal.seen


@pytest.mark.few(2)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("level", ["medium", "high"])
def test_at_a_question_about_a_command_it_answers_nothing(
    terminal: FakeTerminal, processes: FakeProcesses, tail: str, level: str
) -> None:
    confirmer = PromptConfirmer(terminal.screen, processes, {"EDITOR": "my-editor"}, rate_by_word)
    keys = BEGIN + " " + END + tail
    steps = (lambda: pasting(terminal), keys, lambda: over(terminal), CTRL_C)
    assert typed(terminal, lambda: confirmer.confirm(request_for("cp a b", level)), *steps) == CancelGoal()
    assert processes.calls == []


@pytest.mark.parametrize("tail", ["proceed" + ENTER, CTRL_U + "proceed" + ENTER, "\x7f\x7fproceed\n"])
def test_no_word_comes_out_of_it(terminal: FakeTerminal, processes: FakeProcesses, tail: str) -> None:
    confirmer = PromptConfirmer(terminal.screen, processes, {}, rate_by_word)
    steps = (lambda: pasting(terminal), BEGIN + "x" + END + tail, lambda: over(terminal), CTRL_C)
    assert typed(terminal, lambda: confirmer.ask_word(request_for("rm a", "high")), *steps) is None


def test_its_text_is_kept_and_a_later_enter_counts(terminal: FakeTerminal) -> None:
    steps = (lambda: pasting(terminal), BEGIN + "a" + END + "b" + CTRL_U + "c", lambda: over(terminal), "d" + ENTER)
    assert typed(terminal, lambda: ask_words(terminal.screen, "name?"), *steps) == "abcd"


@pytest.mark.parametrize("text", ["y", "proceed"])
def test_what_comes_before_anybody_has_read_a_question_is_no_answer(terminal: FakeTerminal, text: str) -> None:
    pasting(terminal)  # so long nobody has read it
    assert typed(terminal, lambda: ask_words(terminal.screen, "sure?"), text + ENTER, CTRL_C) is None
    assert terminal.screen.typed_ahead() == text


def test_what_is_pasted_before_that_is_none_either(terminal: FakeTerminal) -> None:
    pasting(terminal)
    steps = (BEGIN + "y" + END + ENTER, lambda: over(terminal), CTRL_C)
    assert typed(terminal, lambda: ask_yes(terminal.screen, "sure?"), *steps) is False
    assert terminal.screen.typed_ahead() == "y"


def test_a_secret_that_is_typed_at_once_is_whole_and_goes_nowhere_else(terminal: FakeTerminal) -> None:
    pasting(terminal)
    assert typed(terminal, lambda: ask_hidden(terminal.screen, "passphrase?"), "open" + ENTER) == "open"
    assert terminal.screen.typed_ahead() == ""
