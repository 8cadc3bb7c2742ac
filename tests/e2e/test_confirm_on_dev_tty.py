"""Piped standard input is data; the person is still asked, on the terminal itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.terminal import CTRL_C, ROOT, Terminal

PROGRAM = f"{sys.executable} {ROOT / 'agent_shell.py'}"


@pytest.mark.parametrize(("keys", "code", "ran"), [("\r", 0, True), (CTRL_C, 130, False)])
@pytest.mark.few(1)
def test_a_piped_goal_is_confirmed_on_the_terminal(home: Path, work: Path, keys: str, code: int, ran: bool) -> None:
    line = f"echo some context | {PROGRAM} exec 'touch made-$((40+2))'; echo code $?"
    with Terminal(home=home, cwd=work, command=["/bin/sh", "-c", line]) as person:
        person.at_confirmation("touch made-$((40+2))")
        person.type(keys)
        person.see(f"code {code}")
    assert (work / "made-42").exists() is ran
