"""`agent-shell sesions`, `help` and `version`."""

from __future__ import annotations

import pytest

from agent.cli.arguments import meant
from agent.cli.entry import main
from agent.cli.sub_commands import SUB_COMMANDS
from tests.support.each import each


@each(
    ("line", "expected"),
    [
        ("sesions", "sessions"),
        ("Sesions", "sessions"),
        ("sesions list", "sessions"),
        ("sesions of yesterday", ""),
        ("sesions here", ""),
        ("undoo", "undo"),
        ("doctr", "doctor"),
        ("complations", "completions"),
        ("hepl", "help"),
        ("verison", "version"),
        ("planets", ""),
        ("id", ""),
        ("ls", ""),
        ("why?", ""),
        ("plan9", ""),
        ("exit", ""),
    ],
)
def test_which_one_was_meant(line: str, expected: str) -> None:
    assert meant(line.split(), SUB_COMMANDS) == expected


def test_a_program_of_that_name_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert meant(["plane"], SUB_COMMANDS) == ""


def test_it_is_said_and_no_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sesions"]) == 2
    said = capsys.readouterr()
    assert "there is no 'sesions'; did you mean sessions?" in said.err
    assert said.out == ""


@each(
    ("words", "expected"),
    [
        ("version", "agent-shell 0"),
        ("help", "usage: agent-shell [options] [GOAL...]"),
        ("help risk", "usage: agent-shell risk"),
    ],
)
def test_help_and_version(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    assert capsys.readouterr().out.startswith(expected)
