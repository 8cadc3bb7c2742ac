"""Editor, pager and clipboard."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from agent.frontends.external_programs import copy_text, edit_text, editor_words, show_long
from tests.support.fake_terminal import FakeProcesses, FakeTerminal


def test_the_editor_is_the_persons() -> None:
    assert editor_words({"VISUAL": "code --wait", "EDITOR": "vi"}) == ("code", "--wait")
    assert editor_words({"VISUAL": "'broken", "EDITOR": "ed"}) == ("ed",)
    assert editor_words({})[0].endswith(("nano", "vim", "vi"))


def test_odd_text_survives_the_editor(processes: FakeProcesses) -> None:
    text = "größe \udcff\n\x00 end"
    assert asyncio.run(edit_text(text, processes, {"EDITOR": "ed"}, name="x")) == (text, "")
    lone = "a\ud800b"
    assert asyncio.run(edit_text(lone, processes, {"EDITOR": "ed"}, name="x")) == ("a?b", "")


def test_an_editor_that_returns_too_much_changes_nothing(processes: FakeProcesses) -> None:
    processes.edit = lambda path: Path(path).write_text("x" * 2_000_000)
    text, trouble = asyncio.run(edit_text("ls", processes, {"EDITOR": "ed"}, name="x"))
    assert text == "ls"
    assert "1 MB" in trouble


def test_an_editor_that_removes_the_file_changes_nothing(processes: FakeProcesses) -> None:
    processes.edit = os.unlink
    text, trouble = asyncio.run(edit_text("ls", processes, {"EDITOR": "ed"}, name="x"))
    assert text == "ls"
    assert "could not be used" in trouble


def test_pager_only_for_what_does_not_fit(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    asyncio.run(show_long("short", terminal.screen, processes, {}))
    assert processes.calls == []
    assert "short" in terminal.seen
    asyncio.run(show_long("\n".join("line" for _ in range(100)), terminal.screen, processes, {"PAGER": "cat -u"}))
    assert processes.calls[0][:2] == ("cat", "-u")


def test_a_pager_that_fails_does_not_swallow_the_text(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    processes.code = 127
    asyncio.run(show_long("\n".join(f"line {n}" for n in range(100)), terminal.screen, processes, {}))
    assert "line 99" in terminal.seen


def test_copy_by_terminal_and_tool(terminal: FakeTerminal, processes: FakeProcesses, tmp_path: Path) -> None:
    said = asyncio.run(copy_text("größe", terminal.screen, processes, {}))
    assert f"\x1b]52;c;{base64.b64encode('größe'.encode()).decode()}\x07" in terminal.raw
    assert said == "copied 5 characters by the terminal"


def test_too_much_for_the_terminal_is_said(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert "not copied" in asyncio.run(copy_text("x" * 100_000, terminal.screen, processes, {}))
    assert "\x1b]52" not in terminal.raw


def test_less_has_a_title_and_starts_nothing(
    terminal: FakeTerminal, processes: FakeProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    less = tmp_path / "less"
    less.write_text("#!/bin/sh\n")
    less.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    long = "\n".join("line" for _ in range(100))
    asyncio.run(show_long(long, terminal.screen, processes, {}, title=":help 100%"))
    _, secure, program, *options = processes.calls[0]
    assert (secure, program) == ("LESSSECURE=1", str(less))
    assert [word for word in options if word.startswith("-Ps")] == [
        r"-Psagent-shell \:help 100\%  ?e(end):%pB\%.  q\: back"
    ]
