"""Install peers into folders of their own and have them rate commands there; nothing of theirs enters this environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers.catalogue import ADAPTERS, Peer

_INSTALL_SECONDS, _RATE_SECONDS = 300, 600


class Unavailable(Exception):
    """The peer cannot be had here; the text says why."""


@dataclass
class Answers:
    """What a peer said: a level for each command, None where it failed, and the microseconds of each call."""

    levels: list[str | None]
    microseconds: list[float]
    errors: list[str] = field(default_factory=list)


def rate_with(peer: Peer, commands: list[str], cache: Path) -> Answers:
    """All `commands` rated by `peer`, installed below `cache` if it is not there yet. Raises Unavailable."""
    home = _installed(peer, cache / peer.package)
    empty = home / "empty"
    empty.mkdir(exist_ok=True)
    adapter = ADAPTERS / peer.adapter
    argv = (
        ["node", str(adapter), str(home)]
        if peer.ecosystem == "npm"
        else [str(home / "venv/bin/python"), "-I", str(ADAPTERS.parent / "serve.py"), str(adapter)]
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(empty), "LANG": "C.UTF-8", **peer.environment}
    lines = "".join(json.dumps(command) + "\n" for command in commands)
    try:
        done = subprocess.run(
            argv,
            input=lines,
            check=False,
            capture_output=True,
            text=True,
            cwd=empty,
            env=environment,
            timeout=_RATE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"not done after {_RATE_SECONDS} s") from None
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(rows) != len(commands):
        raise Unavailable(f"answered {len(rows)} of {len(commands)}: {_last_line(done.stderr)}")
    return Answers(
        [row["level"] for row in rows], [row["us"] for row in rows], [row["error"] for row in rows if row["error"]]
    )


def _installed(peer: Peer, home: Path) -> Path:
    """The folder of the installed peer; a marker says that the installation came to its end."""
    marker = home / f"installed-{peer.version}"
    if marker.exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    if peer.ecosystem == "npm":
        if shutil.which("npm") is None:
            raise Unavailable("needs node and npm")
        _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{peer.package}@{peer.version}"], home)
    else:
        _run([_python(peer.oldest), "-m", "venv", "venv"], home)
        options = ["--only-binary", ":all:", *(["--no-deps"] if peer.alone else [])]
        _run(["venv/bin/python", "-m", "pip", "install", "-q", *options, f"{peer.package}=={peer.version}"], home)
    marker.touch()
    return home


def _python(minor: int) -> str:
    """An interpreter of 3.`minor` or newer: this one, one on PATH, or one of pyenv's."""
    if sys.version_info >= (3, minor):
        return sys.executable
    folders = [
        *os.environ.get("PATH", "").split(":"),
        *(str(found) for found in Path.home().glob(".pyenv/versions/3.*/bin")),
    ]
    for newer in range(minor, minor + 4):
        for folder in folders:
            program = Path(folder) / f"python3.{newer}"
            if program.exists() and "shims" not in program.parts:
                return str(program)
    raise Unavailable(f"needs Python 3.{minor}")


def _run(argv: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(argv, cwd=folder, check=False, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"could not be installed: {error}"[:120]) from None
    if done.returncode:
        if "No matching distribution" in done.stderr:
            raise Unavailable("no built package for this machine")
        raise Unavailable(f"could not be installed: {_last_line(done.stderr)}"[:120])


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no message"
