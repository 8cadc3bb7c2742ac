"""F2 at the confirmation: what the text in the editor means, and then back to it as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.protocol.confirmations import Approved, Confirmation
from agent.protocol.decisions import RiskReport
from agent.risk.classifier import classify
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, request_for, typed

CTRL_U, ENTER, LEFT, F2, ALT_E = "\x15", "\r", "\x1b[D", "\x1bOQ", "\x1be"


def rate(command: str, cwd: str, session: str = "") -> RiskReport:
    return classify(command)


def answer(terminal: FakeTerminal, processes: FakeProcesses, command: str, *keys: str, pager: str = "") -> Confirmation:
    confirmer = PromptConfirmer(terminal.screen, processes, {"PAGER": pager}, rate)
    return typed(terminal, lambda: confirmer.confirm(request_for(command)), *keys, pause=0.1)


@pytest.mark.parametrize("key", [F2, ALT_E])
def test_edited_text_is_explained_and_text_and_cursor_are_kept(
    terminal: FakeTerminal, processes: FakeProcesses, key: str
) -> None:
    keys = (CTRL_U + "rm -rf build" + LEFT * 5, key, "my-", ENTER)
    assert answer(terminal, processes, "ls", *keys) == Approved(command="rm -rf my-build")
    assert "deletes build with everything below" in terminal.seen
    assert "deletes files" in terminal.seen, "what the program is for"
    assert "lists files" not in terminal.seen, "that was the text before it was edited"


def test_a_long_explanation_goes_through_the_pager(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    shown: list[str] = []
    processes.edit = lambda path: shown.append(Path(path).read_text())
    command = " && ".join(f"cp file{n} copy{n}" for n in range(12))
    pager = shutil.which("cat") or "cat"
    keys = (LEFT * 3, F2, "#", ENTER)
    assert answer(terminal, processes, command, *keys, ENTER, pager=pager) == Approved(
        command=command[:-3] + "#" + command[-3:]
    )
    assert processes.calls[0][0] == pager
    assert "copy11" in shown[0]
    assert "only if that worked" in shown[0]


def test_what_is_explained_cannot_act_on_the_terminal(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    command = "echo \x1b]0;title\x07 \u202e rm"
    assert answer(terminal, processes, command, F2, ENTER) == Approved(command=command)
    assert "\x1b]0;" not in terminal.raw
    assert "\u202e" not in terminal.raw
