"""A cancel that comes between the person's answer and the start: the command does not begin."""

from __future__ import annotations

from pathlib import Path

from agent.protocol.execution import CancellationToken
from tests.unit.execution.running import MakeRunner


def test_nothing_is_started(make_run: MakeRunner, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text(f"#!/bin/sh\ntrap '' INT TERM\necho started >> {tmp_path}/ran\n")
    shell.chmod(0o700)
    run = make_run(shell=str(shell))
    token = CancellationToken()
    token.cancel("stopped")
    for _ in range(10):
        result = run("cd /", cancel=token)
        assert (result.exit_code, result.interrupted) == (130, True)
    assert not (tmp_path / "ran").exists()
    assert run.executor.cwd != "/"
