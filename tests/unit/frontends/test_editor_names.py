"""vim takes no settings from a proposal, whatever it is called."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.frontends.external_programs import edit_text
from tests.support.fake_terminal import FakeProcesses


@pytest.mark.parametrize("real", ["vim.basic", "vim.tiny", "nvim", "vim", "gvim"])
@pytest.mark.parametrize("name", ["vi", "editor", "view"])
def test_vim_by_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: str, name: str) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / real
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "alternative").symlink_to(program)
    (tmp_path / "bin" / name).symlink_to(tmp_path / "alternative")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    processes = FakeProcesses()
    asyncio.run(edit_text("ls # vim: set x:", processes, {"EDITOR": name}, name="command.sh"))
    assert processes.calls[0][:3] == (name, "--cmd", "set nomodeline modelines=0")


@pytest.mark.parametrize("name", ["nano", "nvi", "code --wait", "/nowhere/emacs"])
def test_other_editors_get_no_options_of_vim(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    processes = FakeProcesses()
    asyncio.run(edit_text("ls", processes, {"EDITOR": name}, name="command.sh"))
    assert "--cmd" not in processes.calls[0]
