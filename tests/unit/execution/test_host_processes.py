"""Programs that the host starts for itself."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pexpect
import pytest

from agent.execution.processes import MOST_OUTPUT, HostProcesses
from tests.support.each import each
from tests.unit.execution.running import Marker

ROOT = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])


def capture(*argv: str, cwd: str = "", timeout: float = 20.0, env: dict[str, str] | None = None) -> tuple[int, str]:
    return asyncio.run(HostProcesses(env).capture(argv, cwd=cwd, timeout=timeout))


@each(
    ("argv", "expected"),
    [
        (("printf", "a\\n%s", "b c"), (0, "a\nb c")),
        (("sh", "-c", "echo out; echo err >&2; exit 3"), (3, "out\n")),
        (("sh", "-c", "kill -9 $$"), (137, "")),
        (("sh", "-c", "exec >&-; exit 4"), (4, "")),
        (("cat",), (0, "")),
        (("/nonexistent",), (127, "")),
        (("printf", "\\377"), (0, "\ufffd")),
    ],
)
def test_capture(argv: tuple[str, ...], expected: tuple[int, str]) -> None:
    assert capture(*argv) == expected


def test_capture_in_a_folder_with_its_own_environment(tmp_path: Path) -> None:
    assert capture("pwd", cwd=str(tmp_path)) == (0, f"{tmp_path}\n")
    assert capture("pwd", cwd=str(tmp_path / "missing")) == (127, "")
    assert capture("/usr/bin/env", env={"A": "1"}) == (0, "A=1\n")


def gone(marker: Marker) -> None:
    """Wait for the end of what was killed: all but the child itself die when the kernel comes to it."""
    limit = time.monotonic() + 60
    while left := marker.survivors():
        assert time.monotonic() < limit, left
        time.sleep(0.01)


@pytest.mark.parametrize("command", ["echo first; sleep 1000; echo never", "echo first; sleep 1000 & exit 0"])
def test_capture_ends_what_takes_too_long(marker: Marker, command: str) -> None:
    env = {**os.environ, marker.name: "1"}
    for timeout in (0.2, 1.0, 5.0, 25.0):  # a busy machine may not even begin it in the first
        code, text = capture("sh", "-c", command, timeout=timeout, env=env)
        assert code == 124
        gone(marker)
        if text:
            break
    assert text == "first\n"


def test_capture_is_bounded(marker: Marker) -> None:
    code, text = capture("yes", timeout=5, env={**os.environ, marker.name: "1"})
    assert (code, len(text)) == (141, MOST_OUTPUT)  # 128 + SIGPIPE
    gone(marker)


ATTACHED = """
import asyncio, os, sys
from agent.execution.processes import HostProcesses
for word in sys.argv[1:]:
    print("CODE", asyncio.run(HostProcesses().run_attached(("bash", "-c", word))), flush=True)
print("AGAIN", input())
"""


def attached(*scripts: str) -> pexpect.spawn:
    env = {**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm"}
    return pexpect.spawn(sys.executable, ["-c", ATTACHED, *scripts], env=env, timeout=60)


def test_attached_has_the_terminal_and_gives_it_back() -> None:
    child = attached("test -t 0 && test -t 1 && echo terminal; read x; echo got $x; exit 3")
    child.expect_exact(b"terminal")
    child.send("key\r")
    child.expect_exact(b"got key")
    child.expect_exact(b"CODE 3")
    child.send("ours\r")
    child.expect_exact(b"AGAIN ours")
    child.wait()


def test_ctrl_c_and_suspend_keys_reach_only_the_attached_program() -> None:
    child = attached("trap 'echo caught; exit 4' INT; echo ready; while :; do sleep 0.02; done")
    child.expect_exact(b"ready")
    child.send("\x1a\x03")
    child.expect_exact(b"caught")
    child.expect_exact(b"CODE 4")
    child.send("ours\r")
    child.expect_exact(b"AGAIN ours")
    child.wait()


@pytest.mark.thorough
def test_attached_without_a_terminal_or_program() -> None:
    assert asyncio.run(HostProcesses().run_attached(("/nonexistent",))) == 127
    child = attached("kill -9 $$")
    child.expect_exact(b"CODE 137")
    child.close(force=True)


def test_what_an_attached_program_that_is_killed_left_switched_on_is_put_back() -> None:
    left_on = "stty raw -echo; printf '\\033[?1049h\\033[?1003h\\033[?25l'; kill -9 $$"
    child = attached(left_on, "stty -a")
    child.expect_exact(b"CODE 137")
    assert all(code in child.before for code in (b"\x1b[?1047l", b"\x1b[?1003l", b"\x1b[?25h"))
    child.expect_exact(b"CODE 0")
    assert b" icanon" in child.before and b" echo " in child.before
    child.close(force=True)


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_who_cancels_an_attached_program_ends_it(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: Marker
) -> None:
    monkeypatch.setattr("agent.execution.processes._GRACE", 0.3)
    ready = tmp_path / "ready"

    async def main() -> bool:
        env = {**os.environ, marker.name: "1"}
        script = f"{trap}: > {ready}; while :; do sleep 0.05; done"
        task = asyncio.ensure_future(HostProcesses(env).run_attached(("bash", "-c", script)))
        while not ready.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        return (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError

    assert asyncio.run(main())
    gone(marker)


def test_the_variables_of_env_are_set_as_it_would_set_them() -> None:
    """`env` itself is not started for them; its options are left to it."""
    host = HostProcesses({"PATH": os.environ["PATH"], "KEPT": "1", "OVER": "1"})
    show = ("sh", "-c", "echo $KEPT $OVER $NEW")
    assert host.captured(("env", "OVER=a=b", "NEW=x y", *show), "", 20.0) == (0, "1 a=b x y\n")
    assert host.captured(("env", "-u", "KEPT", "NEW=2", "sh", "-c", "echo [$KEPT] $NEW"), "", 20.0)[1] == "[] 2\n"
    assert host.captured(("env",), "", 20.0)[0] == 0
