"""Each sub-command has a parser of its own: its help says how it is written, and what it does not know is an error."""

from __future__ import annotations

import pytest

from agent.cli.entry import main
from agent.cli.sub_commands import SUB_COMMANDS


@pytest.mark.parametrize("name", sorted(SUB_COMMANDS))
def test_help_and_errors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: agent-shell {name}")
    assert main([name, "--no-such-option"]) == 2
    told = capsys.readouterr()
    assert not told.out and told.err.startswith("usage: ") and "\nagent-shell: " in told.err
