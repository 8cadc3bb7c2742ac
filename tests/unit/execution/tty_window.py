"""A terminal with an executor in it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect

from tests.support.terminal import Spawn
from tests.unit.execution.running import Marker

ROOT = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
DRIVER = str(Path(__file__).with_name("tty_driver.py"))


class Terminal:
    """A terminal in which the driver runs commands. `launcher` and `packages`: an interpreter for another user, and its PYTHONPATH."""

    def __init__(
        self, directory: str, marker: Marker, *, launcher: tuple[str, ...] = (sys.executable,), packages: str = ""
    ) -> None:
        self._directory = directory
        self._launcher = launcher
        self._packages = packages
        self._marker = marker
        self.child: pexpect.spawn[bytes] = None  # type: ignore[assignment]
        self.shown = b""

    def start(self, *commands: str, programs: str = "") -> pexpect.spawn:
        env = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm",
            "HOME": self._directory,
            "PYTHONPATH": f"{ROOT}:{self._packages}",
        }
        self.child = Spawn(
            self._launcher[0],
            [*self._launcher[1:], DRIVER, programs, *commands],
            cwd=self._directory,
            env={**env, self._marker.name: "1", "INPUTRC": "/dev/null"},
            timeout=60,
            dimensions=(30, 100),
        )
        return self.child

    def result(self) -> dict[str, Any]:
        """Wait for the next command to end. `shown` is what was on the screen since then."""
        self.child.expect(rb"RESULT (\{.*?\})\r\n")
        self.shown = self.child.before
        answer: dict[str, Any] = json.loads(self.child.match.group(1))
        assert answer.pop("same"), "the terminal's settings were changed"
        return answer

    def run(self, *commands: str, programs: str = "") -> dict[str, Any]:
        self.start(*commands, programs=programs)
        return self.result()


def until(condition: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.01)
