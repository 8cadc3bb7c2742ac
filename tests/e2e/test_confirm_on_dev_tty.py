"""Piped standard input is data; the person is still asked, on the terminal itself."""

import os
import sys
import time
from pathlib import Path

import pexpect
import pytest

from tests.support.terminal import DEAD_TIME

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"{sys.executable} {ROOT / 'agent_shell.py'}"


def spawn(tmp_path: Path, line: str) -> pexpect.spawn:
    env = {
        "HOME": str(tmp_path), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "AGENT_SESSION_DIR": str(tmp_path / "sessions"),
    }  # fmt: skip
    work = tmp_path / "work"
    work.mkdir()
    return pexpect.spawn("/bin/sh", ["-c", line], env=env, cwd=str(work), timeout=60, dimensions=(24, 100))


@pytest.mark.parametrize(("keys", "code", "ran"), [("\r", 0, True), ("\x03", 130, False)])
@pytest.mark.few(1)
def test_a_piped_goal_is_confirmed_on_the_terminal(tmp_path: Path, keys: str, code: int, ran: bool) -> None:
    child = spawn(tmp_path, f"echo some context | {PROGRAM} exec 'touch made-$((40+2))'; echo code $?")
    child.expect("❯".encode())
    child.expect(rb"40\+2")
    time.sleep(DEAD_TIME)
    child.send(keys)
    child.expect_exact(f"code {code}".encode())
    assert (tmp_path / "work" / "made-42").exists() is ran
    child.close(force=True)
