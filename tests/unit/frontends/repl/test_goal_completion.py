"""Completion of commands and paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agent.commands.context import CommandServices
from agent.frontends.repl.goal_completion import GoalCompleter


def completed(text: str, cwd: Path, *, asked: bool = True) -> list[str]:
    """The whole line after each completion."""
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    found = GoalCompleter(lambda: str(cwd)).get_completions(Document(text), event)
    return [text[: len(text) + item.start_position] + item.text for item in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    (tmp_path / "my notes.txt").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "evil\x1b[2Jname").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":sess", [":session"]),
        (".sess", [".session"]),
        (":safety o", [":safety on", ":safety off"]),
        (":nonsense", []),
        (":undo", [":undo", ":undo-turn"]),
        ("show sr", ["show src/"]),
        ("show src/ma", ["show src/main.py"]),
        ("!cat my", ["!cat my\\ notes.txt"]),
        ("!cat my\\ no", ["!cat my\\ notes.txt"]),
        ("open my", ["open my notes.txt"]),
        ("show .hid", ["show .hidden"]),
        ("show evil", []),
        ("show nowhere/x", []),
        ("show \x00/x", []),
    ],
)
def test_completions(folder: Path, text: str, expected: list[str]) -> None:
    assert completed(text, folder) == expected


def test_names_that_a_server_gives_hide_nothing() -> None:
    services = CommandServices(model_names=lambda: ("good", "go\u202edab", "go\x1b[2J"))
    found = GoalCompleter(lambda: "/", lambda: services).get_completions(
        Document(":model go"), CompleteEvent(completion_requested=True)
    )
    assert [item.text for item in found] == ["good"]


def test_hidden_files_only_when_asked_for(folder: Path) -> None:
    assert all(".hidden" not in line for line in completed("show ", folder))


def test_paths_are_not_looked_up_while_typing(folder: Path) -> None:
    assert completed("show sr", folder, asked=False) == []
    assert completed(":he", folder, asked=False) == [":help"]


def test_dot_slash_is_a_path(folder: Path) -> None:
    assert completed("./sr", folder) == ["./src/"]
