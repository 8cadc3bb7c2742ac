"""A throw-away place for rehearsals, as root or as an ordinary user, and what is true of the world around it."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.ordinary_user import NOBODY, _launcher
from tests.scenarios.program import ROOT
from tests.support.excuses import excused

DRIVER = ROOT / "tests" / "support" / "rehearsal_driver.py"


class Bench:
    """`base` holds `work` (where commands run), `home` and `state`; all of it belongs to who rehearses. `kind`: "root" or "user"."""

    def __init__(self, kind: str, where: str | None = None) -> None:
        if kind == "root" and os.geteuid() != 0:
            pytest.skip("needs root")
        self.kind = kind
        self.words: tuple[str, ...] = (sys.executable,)
        packages = ""
        if kind == "user":
            self.words, packages = _launcher()
        self.base = Path(tempfile.mkdtemp(prefix="rehearse-", dir=where))
        self.work, self.home, self.state = (self.base / name for name in ("work", "home", "state"))
        for folder in (self.work, self.home, self.state):
            folder.mkdir()
        self.base.chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), packages)))}
        self.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        self.own()

    def own(self) -> None:
        """Give everything here to who rehearses."""
        if self.kind == "user" and os.geteuid() == 0:
            for path in (self.base, *self.base.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def runs(self, *runs: dict[str, Any] | str, **more: Any) -> list[dict[str, Any]]:
        """As `ask`, where rehearsals can be had; skips the test where they cannot."""
        said = self.ask(*runs, **more)
        for one in said:
            if one.get("error") == "rehearsal_unavailable":
                pytest.skip(excused(one["message"]))
        return said

    def ask(self, *runs: dict[str, Any] | str, **more: Any) -> list[dict[str, Any]]:
        """Do them one after the other in one executor; what the driver said of each."""
        return _server(self.words, self.environ).ask(self._order(runs, more))

    def start(self, *runs: dict[str, Any] | str, **more: Any) -> subprocess.Popen[bytes]:
        """A driver of its own, with its orders on the way."""
        process = _start(self.words, self.environ)
        assert process.stdin is not None
        process.stdin.write(self._order(runs, more))
        process.stdin.close()
        process.stdin = None
        return process

    def _order(self, runs: tuple[dict[str, Any] | str, ...], more: dict[str, Any]) -> bytes:
        order = {"cwd": str(self.work), "state_dir": str(self.state), **more, "env": self.env | more.get("env", {})}
        order["runs"] = [{"text": run} if isinstance(run, str) else run for run in runs]
        return json.dumps(order).encode() + b"\n"

    def run(self, text: str, **more: Any) -> dict[str, Any]:
        """Rehearse one command and discard it."""
        options = {name: more.pop(name) for name in ("network", "timeout", "cancel_at", "then", "when") if name in more}
        return self.runs({"text": text, **options}, **more)[0]

    def listing(self) -> dict[str, tuple[Any, ...]]:
        """All of `work`, as exactly as it can be told: type, mode, owner, links, size, mtime, content."""
        return tree(self.work)

    def remove(self) -> None:
        for path in (self.base, *self.base.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.base)


def _start(words: tuple[str, ...], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*words, str(DRIVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        cwd="/",
    )


class _Server:
    """A driver that serves many tests: starting an interpreter for each would take longer than the tests."""

    def __init__(self, words: tuple[str, ...], environ: dict[str, str]) -> None:
        self._process = _start(words, environ)
        atexit.register(self.end)

    def ask(self, order: bytes) -> list[dict[str, Any]]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(order)
        self._process.stdin.flush()
        said = []
        while line := self._process.stdout.readline():
            if line == b"\n":
                return said
            said.append(json.loads(line))
        _serving.cache_clear()
        raise AssertionError(self._process.communicate()[1].decode())

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def _server(words: tuple[str, ...], environ: dict[str, str]) -> _Server:
    return _serving(words, tuple(environ.items()))


@functools.cache
def _serving(words: tuple[str, ...], environ: tuple[tuple[str, str], ...]) -> _Server:
    return _Server(words, dict(environ))


def tree(top: Path) -> dict[str, tuple[Any, ...]]:
    """Path -> everything about it, for a folder and all below."""
    found = {}
    for path in (top, *sorted(top.rglob("*"))):
        facts = path.lstat()
        content = ""
        if stat.S_ISREG(facts.st_mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        elif stat.S_ISLNK(facts.st_mode):
            content = os.readlink(path)
        found[str(path)] = (
            facts.st_mode,
            facts.st_uid,
            facts.st_gid,
            facts.st_nlink,
            facts.st_size,
            facts.st_mtime_ns,
            facts.st_ino,
            content,
            tuple(
                (name, os.getxattr(path, name, follow_symlinks=False))
                for name in os.listxattr(path, follow_symlinks=False)
            ),
        )
    return found


def changes(said: dict[str, Any]) -> set[tuple[str, str]]:
    """(op, last part of the path) of every change."""
    return {(change["op"], os.path.basename(change["path"])) for change in said["changes"]}


def out(said: dict[str, Any]) -> str:
    """Standard output of the command."""
    return str(said["result"]["stdout"].get("head", ""))


def err(said: dict[str, Any]) -> str:
    """Standard error of the command."""
    return str(said["result"]["stderr"].get("head", ""))
