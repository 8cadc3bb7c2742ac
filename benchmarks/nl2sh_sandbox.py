"""Commands in throw-away worlds: what a command printed and changed, seen from outside.

Nothing is ever run outside: where the kernel does not give us the namespaces, there is `SandboxMissing` and no result.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from benchmarks.nl2sh_archives import described
from benchmarks.nl2sh_world import unpack_tree

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nl2sh_inside.py")
TIMEOUT, SETUP_TIMEOUT = 10.0, 60.0
HOME = "/home/dana"


class SandboxMissing(Exception):
    """The kernel or system does not let us build the sandbox; the text says what failed."""


class SetupBroken(Exception):
    """What prepares a task's world failed."""


@dataclass(frozen=True)
class Outcome:
    """What a command did: `stdout` is latin-1 text of its bytes; `changed` maps paths in the home to what is there now, "gone", and,
    where `times` were asked for, when the content was changed."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    timed_out: bool = False
    cut: bool = False
    changed: dict[str, str] = field(default_factory=dict)

    @property
    def does_nothing(self) -> bool:
        return not self.stdout.strip() and not self.changed


def run_inside(command: str, *, base: str, cwd: str, times: bool = False, timeout: float = TIMEOUT) -> Outcome:
    """Run `command` in a copy of `base` (a folder that becomes the home), in its folder `cwd`.

    Raises SandboxMissing; never for what the command does.
    """
    report = _report(command, base, cwd, timeout)
    return Outcome(
        stdout=report["stdout"],
        stderr=report["stderr"],
        exit_code=report["exit_code"],
        timed_out=report["timed_out"],
        cut=report["cut"],
        changed=_changed(report, times=times),
    )


def prepare(setup: str, *, base: str, cwd: str, target: str) -> None:
    """Run `setup` in a copy of `base`, and write what came of it to the new folder `target`. Raises SandboxMissing, SetupBroken."""
    report = _report(setup, base, cwd, SETUP_TIMEOUT, prepare=True)
    if report["exit_code"] != 0:
        raise SetupBroken(f"the setup ended with {report['exit_code']}: {report['stderr'][:400]}")
    os.mkdir(target)
    try:
        unpack_tree(report["tree"], target)
    except (OSError, ValueError) as problem:
        raise SetupBroken(f"the setup's files cannot be taken over: {problem}") from problem


def _report(command: str, base: str, cwd: str, timeout: float, *, prepare: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="nl2sh-room-") as room:
        order = {"room": room, "base": base, "cwd": cwd, "command": command, "timeout": timeout, "prepare": prepare}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-B", INSIDE],
                input=json.dumps(order).encode(),
                capture_output=True,
                timeout=timeout + 60,
                env={"PATH": os.defpath},
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise SandboxMissing(str(problem)) from problem
    if not done.stdout:
        raise SandboxMissing(f"its inside ended with {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    if "refused" in report:
        raise SandboxMissing(report["refused"])
    return report


@cache
def why_missing() -> str:
    """Why no sandbox can be built here; "" where it can."""
    if sys.platform != "linux":
        return "namespaces are a feature of Linux"
    with tempfile.TemporaryDirectory(prefix="nl2sh-base-") as base:
        try:
            seen = run_inside("id -u; pwd", base=base, cwd=".")
        except SandboxMissing as problem:
            return str(problem)
    return "" if seen.stdout == f"1000\n{HOME}\n" else f"a first command saw {seen.stdout!r} {seen.stderr!r}"


def _changed(report: dict[str, Any], *, times: bool) -> dict[str, str]:
    """Paths that are not as they were."""
    before, after, packed = report["before"], report["after"], report["packed"]
    changed = {path: "gone" for path in before if path not in after}
    for path, (what, when) in after.items():
        old, now = before.get(path), what
        timed = times and what.startswith("file")
        if old is not None and old[0] == what and not (timed and old[1] != when):
            continue
        if path in packed:
            mode = what.split()[1]
            now = f"file {mode} {described(path, base64.b64decode(packed[path]))}"
        if timed:  # a time that was set or kept stays; the moment of the run is none that two runs share
            now += " of now" if int(when) >= int(report["started"]) else f" of {when}"
        changed[path] = now
    return changed
