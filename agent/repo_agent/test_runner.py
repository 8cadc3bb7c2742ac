"""Find out how the tests of a repository are run, and count them in what the run printed. The table is test_runners.toml.

`scripts/run_tests.py` uses it with a Python that has nothing installed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

OWN_SCRIPT = "scripts/run_tests.py"
"""A repository that has it says by it how its tests are run."""

Reader = Callable[[str], str | None]
"""The text of a file of the repository by its relative path, None where there is none."""


@dataclass(frozen=True)
class Counts:
    """Tests that passed, and all that ran. Skipped ones did not run."""

    passed: int
    total: int


def runner_words(read: Reader, python: str = "python3") -> tuple[str, ...]:
    """Return what runs the tests, () where nothing says it. `python` runs those written in Python."""
    if read(OWN_SCRIPT) is not None:
        return (python, OWN_SCRIPT)
    for runner in _table()["runners"]:
        text = read(runner["file"])
        if text is not None and _says(text, runner.get("says", "")):
            return tuple(python if word == "PYTHON" else word for word in runner["words"].split())
    return ()


def _says(text: str, wanted: str) -> bool:
    return _npm_test(text) if wanted == "npm test" else re.search(wanted, text, re.M) is not None


@cache
def setup_files() -> frozenset[str]:
    """Return the files that say how tests are run, or stand before what runs them."""
    return frozenset((*(runner["file"] for runner in _table()["runners"]), OWN_SCRIPT, *_table()["setup"].split()))


def sets_up_tests(path: str) -> bool:
    """Tell whether a file of that path has a say in how the tests are run, or in what counts as passed."""
    name = path.rpartition("/")[2]
    table = _table()
    return (
        path in setup_files()
        or name in table["anywhere"].split()
        or name.startswith(tuple(table["beginnings"].split()))
    )


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("test_runners.toml").read_text("utf-8"))


def _npm_test(text: str) -> bool:
    """Tell whether a package.json has tests, and not the line that `npm init` puts there."""
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(script, str) and "no test specified" not in script


def counted(output: str) -> Counts | None:
    """Return how many tests passed and ran, by the last summary of the output or the sum of those that a runner prints in parts.

    None where no summary is known.
    """
    plain = _ESCAPES.sub("", output).replace("\r", "")
    for row in _table()["summaries"]:
        found = _Summary(**row).read(plain)
        if found is not None:
            return found
    each = _LINE.findall(plain)
    return Counts(sum(word in ("--- PASS", "ok") for word in each), len(each)) if each else None


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class _Summary:
    """The way in which one runner, or a family of them, sums up: a row of the table, which says what its patterns mean."""

    line: str
    passed: str = r"(\d+) passed\b"
    failed: tuple[str, ...] = (r"(\d+) failed\b",)
    total: str = ""
    skipped: str = ""
    parts: bool = False

    def read(self, text: str) -> Counts | None:
        lines = [match[0] for match in re.finditer(self.line, text, re.M)]
        if not lines:
            return None
        sums = [self._counts(line) for line in (lines if self.parts else lines[-1:])]
        return Counts(sum(each.passed for each in sums), sum(each.total for each in sums))

    def _counts(self, line: str) -> Counts:
        failed = sum(_number(pattern, line) for pattern in self.failed)
        if self.total:
            total = _number(self.total, line) - _number(self.skipped, line)
            return Counts(max(0, total - failed), total)
        passed = _number(self.passed, line)
        return Counts(passed, passed + failed)


def _number(pattern: str, line: str) -> int:
    found = re.search(pattern, line) if pattern else None
    return int(found[1]) if found else 0


_LINE = re.compile(r"^(--- PASS|--- FAIL|ok|not ok)(?:: | \d+\b)(?!.*# (?:SKIP|TODO)\b)", re.M)
"""A test of `go test -v` or of the Test Anything Protocol."""
