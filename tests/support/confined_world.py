"""A workspace, something outside it, and confined commands, as root or as an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.ordinary_user import NOBODY, _launcher
from tests.support import warm_program

DRIVER = Path(__file__).with_name("confined_driver.py")


@dataclass
class Ran:
    """One command: its result and how it was said to be confined."""

    result: dict[str, Any]
    confining: dict[str, Any]

    @property
    def code(self) -> int:
        return self.result["exit_code"]

    @property
    def out(self) -> str:
        return self.result["stdout"].get("head", "").strip()

    @property
    def err(self) -> str:
        return self.result["stderr"].get("head", "").strip()

    @property
    def notes(self) -> str:
        return "\n".join(self.result["notes"])


@dataclass
class ConfinedWorld:
    """`who` is "root" or "user". `without` maps system calls to the error they are to fail with."""

    who: str
    without: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.base = Path(os.path.realpath(tempfile.mkdtemp(prefix="confined-")))
        self.workspace = self.base / "ws"
        self.outside = self.base / "outside"
        for folder in (self.workspace, self.outside, self.base / "tmp"):
            folder.mkdir()
        (self.outside / "kept").write_text("as it was\n")
        self.own()
        self.environment: dict[str, str] = {}
        self.cwd = ""

    def own(self) -> None:
        if self.who == "user" and os.geteuid() == 0:
            for path in (self.base, *self.base.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def run(self, *commands: tuple[str, str]) -> list[Ran]:
        words: tuple[str, ...] = (sys.executable,)
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.base), "TMPDIR": str(self.base / "tmp")}
        if self.who == "user":
            words, packages = _launcher()
            environ["PYTHONPATH"] = packages
        work = {"commands": commands, "workspace": str(self.workspace), "without": self.without, **self.options}
        start = subprocess.run if self.before else warm_program.run  # other namespaces are another process
        done = start(
            [*self.before, *words, str(DRIVER)],
            input=json.dumps(work),
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"the driver ended with {done.returncode}: {done.stderr!r}, {done.stdout!r}"
        answer = json.loads(done.stdout)
        self.environment, self.cwd = answer["environment"], answer["cwd"]
        return [Ran(**one) for one in answer["results"]]

    def one(self, mode: str, command: str) -> Ran:
        return self.run((mode, command))[0]

    def untouched(self) -> bool:
        """What lies outside is as it was."""
        kept = self.outside / "kept"
        return sorted(os.listdir(self.outside)) == ["kept"] and kept.read_text() == "as it was\n"

    def remove(self) -> None:
        shutil.rmtree(self.base)


_said: dict[tuple[str, ...], dict[str, Any]] = {}


def need(world: ConfinedWorld, mode: str, means: str) -> None:
    """Skip where this machine has not got what a test is about."""
    key = (world.who, mode, *world.without)
    if key not in _said:
        _said[key] = world.one(mode, "true").confining
    said = _said[key]
    if means not in said.get("how", ""):
        pytest.skip(f"{mode} by {means} is not to be had here: {said.get('reason') or said.get('how')}")
