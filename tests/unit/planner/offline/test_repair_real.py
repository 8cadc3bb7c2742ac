"""Repair rules against what real programs say: each case runs a command that fails, in a folder of its own."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent.planner.offline.after_run import AfterRun
from agent.protocol.messages import CommandItem
from agent.protocol.replies import Command

HERE = Path(__file__).parent
BASH = shutil.which("bash") or "/bin/bash"
CASES: list[dict[str, Any]] = tomllib.loads((HERE / "repair_cases.toml").read_text())["case"]
AFTER_RUN = AfterRun({})


class Around(NamedTuple):
    is_root: bool = False

    def present(self, name: str) -> bool:
        return shutil.which(name) is not None


def surroundings(home: Path) -> dict[str, str]:
    """A world without the person's own settings, servers and agents."""
    keep = {name: os.environ[name] for name in ("PATH", "TMPDIR", "PYENV_ROOT", "PYENV_VERSION") if name in os.environ}
    real = os.path.expanduser("~")
    return {
        **keep,
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        "CARGO_HOME": os.environ.get("CARGO_HOME", f"{real}/.cargo"),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", f"{real}/.rustup"),
        "CARGO_NET_OFFLINE": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",
        "NO_UPDATE_NOTIFIER": "1",
        "CHECKPOINT_DISABLE": "1",
    }


def bash(command: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BASH, "-c", command],
        cwd=folder,
        env=surroundings(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    # Above it may be no repository, no package.json and no Makefile, and its name has to be a plain one.
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "home").mkdir()
    yield work
    shutil.rmtree(work, ignore_errors=True)


def failed(command: str, folder: Path) -> CommandItem:
    """What the engine reports of a command that ran in `folder`."""
    done = bash(command, folder, folder.parent / "home")
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return CommandItem(
        command_id="c",
        proposed=command,
        run=command,
        exit_code=code,
        stdout=done.stdout,
        stderr=done.stderr,
        cwd=str(folder),
    )


def case_id(case: dict[str, Any]) -> str:
    return f"{case['rule']}: {case['run'][:60]}"


@functools.cache
def works(program: str) -> bool:
    """Whether a program is there; of Rust's, whether there is one behind the name, which rustup looks for in the home."""
    if shutil.which(program) is None:
        return False
    if program not in ("cargo", "rustc"):
        return True
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_what_a_real_program_says_is_understood(case: dict[str, Any], folder: Path) -> None:
    for program in case.get("needs", ()):
        if not works(program):
            pytest.skip(f"needs {program}")
    if "/dev/shm" in case["run"] and (
        not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == folder.stat().st_dev
    ):
        pytest.skip("/dev/shm is no file system of its own here")
    if "before" in case:
        bash(case["before"], folder, folder.parent / "home")
    item = failed(case["run"], folder)
    said = item.stderr if item.stderr.strip() else item.stdout
    assert item.exit_code != 0, said
    found = AFTER_RUN.diagnose(said, item.run)
    assert [one.rule.id for one in found[:1]] == [case["rule"]], said
    reply = AFTER_RUN.repair([item], [], str(folder), Around())
    assert (reply.command if isinstance(reply, Command) else None) == case.get("proposes"), reply
