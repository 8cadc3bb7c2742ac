#!/usr/bin/env python3
"""Run the tests of a repository and print the result as one JSON object: ok, exit_code, stdout, stderr, passed, total.

`passed` and `total` are null where no known runner printed a summary. Of long output the beginning and the end are kept. Without a
script of its own at scripts/run_tests.py the repository's files say how its tests are run. Ends as the tests did; 2 where nothing says
how to run them, 124 where they took too long.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent.repo_agent.test_runner import OWN_SCRIPT, counted, runner_words

_KEPT = 200_000
"""Characters of each stream."""
_MOST_READ = 1_000_000


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repo", default=".", metavar="DIR", help="the repository (this folder)")
    parser.add_argument("--timeout", type=float, default=None, metavar="SECONDS", help="end the tests after this long")
    options = parser.parse_args(argv)
    repo = Path(options.repo).resolve()
    words = runner_words(lambda name: _text(repo / name), _python(repo))
    if not words:
        print(json.dumps(_result(2, "", f"nothing in {repo} says how its tests are run")))
        return 2
    code, out, err = _run(words, repo, options.timeout)
    if words[-1] == OWN_SCRIPT and (told := _told(out)) is not None:
        print(json.dumps(told))
    else:
        print(json.dumps(_result(code, out, err)))
    return code


def _text(path: Path) -> str | None:
    """The beginning of a file; this script is none that a repository has."""
    try:
        if path.samefile(__file__):
            return None
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_MOST_READ)
    except OSError:
        return None


def _python(repo: Path) -> str:
    """The repository's own interpreter, where it has one."""
    own = repo / ".venv" / "bin" / "python"
    return str(own) if os.access(own, os.X_OK) else sys.executable


def _run(words: tuple[str, ...], repo: Path, timeout: float | None) -> tuple[int, str, str]:
    """Run it in a session of its own, so that nothing of it is left when the time is over, and apart from a make that called us."""
    environ = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    try:
        process = subprocess.Popen(
            words,
            cwd=repo,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environ,
        )
    except OSError as error:
        return 127, "", f"cannot run {words[0]}: {error.strerror}"
    note = ""
    try:
        out, err = process.communicate(timeout=timeout)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(error, KeyboardInterrupt):
            raise
        note = f"\nended after {timeout:g} seconds"
    code = 124 if note else process.returncode if process.returncode >= 0 else 128 - process.returncode
    return code, out.decode(errors="replace"), err.decode(errors="replace") + note


def _told(out: str) -> dict[str, object] | None:
    """What a script of the repository's own printed, where that is such an object."""
    try:
        told = json.loads(out)
    except ValueError:
        return None
    keys = {"ok", "exit_code", "stdout", "stderr", "passed", "total"}
    return told if isinstance(told, dict) and keys <= told.keys() else None


def _result(code: int, out: str, err: str) -> dict[str, object]:
    counts = counted(out) or counted(err)
    return {
        "ok": code == 0 and (counts is None or counts.passed == counts.total),
        "exit_code": code,
        "stdout": _shortened(out),
        "stderr": _shortened(err),
        "passed": counts.passed if counts else None,
        "total": counts.total if counts else None,
    }


def _shortened(text: str) -> str:
    left_out = len(text) - _KEPT
    if left_out <= 0:
        return text
    return f"{text[: _KEPT // 2]}\n[{left_out:,} characters left out]\n{text[-_KEPT // 2 :]}"


if __name__ == "__main__":
    sys.exit(main())
