"""Choose the strongest confinement this machine can give: each rung is tried once a process, in a child, when it is first asked for."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.execution.confine import words
from agent.execution.confine.plan import Files, Plan, Rung
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Helper, encoded

RUNGS: tuple[Rung, ...] = ("namespaces", "landlock")
_PATIENCE = 10.0  # seconds that a trial may take; it needs milliseconds


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The result of trying a rung. `step` and `errno` say where it failed; `sudo`: whether programs may still gain privileges on it.

    `tried`: False where it could not even be tried now; another time it may be.
    """

    works: bool
    step: str = ""
    errno: int = 0
    landlock: int = 0
    sudo: bool = False
    tried: bool = True

    @property
    def reason(self) -> str:
        return "" if self.works else words.reason(self.step, self.errno)


@dataclass(frozen=True, kw_only=True)
class RungChoice:
    """The best rung for one confinement, None where there is none; `failures` are the trials of better ones, in their order."""

    files: Files
    network: bool
    rung: Rung | None
    trial: Trial
    failures: tuple[tuple[Rung, Trial], ...] = ()

    @property
    def misses(self) -> tuple[str, ...]:
        return () if self.rung is None else words.misses(self.files, self.network, self.rung, self.trial.landlock)

    @property
    def reason(self) -> str:
        """Say why no rung is there."""
        if self.rung is not None:
            return ""
        return "; ".join(dict.fromkeys(trial.reason for _rung, trial in self.failures))


def parsed(mode: str) -> tuple[Files, bool]:
    """Read a mode: where files may be written, and whether the network may be used. Raises ValueError for an unknown one."""
    files: Files = "all"
    network = True
    for part in mode.split(","):
        if part in ("workspace", "read-only"):
            files = "workspace" if part == "workspace" else "read-only"
        elif part == "no-network":
            network = False
        elif part != "off":
            raise ValueError(f"unknown confinement {part!r}")
    return files, network


class Ladder:
    """Asks the helper, and remembers. Thread-safe."""

    def __init__(self, helper: Helper) -> None:
        self._helper = helper
        self._lock = threading.Lock()
        self._trials: dict[tuple[Files, bool, Rung], Trial] = {}

    def choose(self, files: Files, network: bool) -> RungChoice:
        """The best rung that works. Takes some milliseconds the first time; never raises."""
        failures: list[tuple[Rung, Trial]] = []
        for rung in RUNGS:
            trial = self.trial(files, network, rung)
            if trial.works:
                return RungChoice(files=files, network=network, rung=rung, trial=trial, failures=tuple(failures))
            failures.append((rung, trial))
        return RungChoice(files=files, network=network, rung=None, trial=Trial(works=False), failures=tuple(failures))

    def trial(self, files: Files, network: bool, rung: Rung) -> Trial:
        with self._lock:
            key = (files, network, rung)
            if key in self._trials:
                return self._trials[key]
            trial = self._try(files, network, rung)
            if trial.tried:
                self._trials[key] = trial
            return trial

    def _try(self, files: Files, network: bool, rung: Rung) -> Trial:
        def plan(folder: bytes) -> dict[str, Any]:
            writable = (folder,) if files != "all" else ()
            return Plan(files=files, network=network, rung=rung, writable=writable).encoded()

        return tried(self._helper, plan, missing="no confinement that agent-shell could use")


def tried(helper: Helper, plan: Callable[[bytes], dict[str, Any]], *, missing: str) -> Trial:
    """Have a process made for that enter a sandbox in which it may write in one folder, and see whether it holds. `missing`: elsewhere."""
    if sys.platform != "linux":
        return Trial(works=False, step=f"{sys.platform} has {missing}")
    try:
        with tempfile.TemporaryDirectory(prefix="agent-shell-trial-") as folder:
            inside, outside = (os.path.join(os.path.realpath(folder), name) for name in ("inside", "outside"))
            os.mkdir(inside, 0o700)
            with open(outside, "wb"):
                pass
            message = {"op": "try", "sandbox": plan(os.fsencode(inside)), "outside": encoded(outside)}
            ours, theirs = socket.socketpair()
            with ours, theirs:
                ours.settimeout(_PATIENCE)
                helper.request(message, (theirs.fileno(),))
                theirs.close()
                received = wire.receive(ours)
    except OSError as error:
        return Trial(works=False, tried=False, step=f"it could not be tried: {error.strerror or error}")
    if received is None:
        return Trial(works=False, tried=False, step="the process that tried it was killed")
    return Trial(**received[0])
