"""Find out how the tests of a repository are run, and count them in what the run printed. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

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
    for file, says, words in _RUNNERS:
        text = read(file)
        if text is not None and says(text):
            return tuple(python if word == "PYTHON" else word for word in words)
    return ()


def sets_up_tests(path: str) -> bool:
    """Tell whether a file of that path has a say in how the tests are run, or in what counts as passed."""
    name = path.rpartition("/")[2]
    return path in SETUP or name in _ANYWHERE or name.startswith(_CONFIGS)


def _always(text: str) -> bool:
    return True


def _holds(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.M)
    return lambda text: found.search(text) is not None


def _npm_test(text: str) -> bool:
    """Tell whether a package.json has tests, and not the line that `npm init` puts there."""
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(script, str) and "no test specified" not in script


_PYTEST = ("PYTHON", "-m", "pytest", "-q")
_TARGET = _holds(r"^(?:\.PHONY\s*:.*\n)?test\s*:(?!=)")
_RUNNERS: tuple[tuple[str, Callable[[str], bool], tuple[str, ...]], ...] = (
    ("GNUmakefile", _TARGET, ("make", "test")),
    ("Makefile", _TARGET, ("make", "test")),
    ("makefile", _TARGET, ("make", "test")),
    ("justfile", _TARGET, ("just", "test")),
    ("pytest.ini", _always, _PYTEST),
    ("pyproject.toml", _holds(r"^\[tool\.pytest"), _PYTEST),
    ("setup.cfg", _holds(r"^\[tool:pytest\]"), _PYTEST),
    ("tox.ini", _holds(r"^\[pytest\]"), _PYTEST),
    ("conftest.py", _always, _PYTEST),
    ("tests/conftest.py", _always, _PYTEST),
    ("package.json", _npm_test, ("npm", "test", "--silent")),
    ("deno.json", _always, ("deno", "test")),
    ("Cargo.toml", _always, ("cargo", "test")),
    ("go.mod", _always, ("go", "test", "-v", "./...")),
    ("pom.xml", _always, ("mvn", "-q", "-B", "test")),
    ("gradlew", _always, ("./gradlew", "test")),
    ("build.gradle", _always, ("gradle", "test")),
    ("mix.exs", _always, ("mix", "test")),
    (".rspec", _always, ("bundle", "exec", "rspec")),
    ("Rakefile", _holds(r"TestTask|\btask\b.*\btest\b"), ("rake", "test")),
    ("phpunit.xml", _always, ("vendor/bin/phpunit",)),
    ("pyproject.toml", _always, _PYTEST),
    ("setup.py", _always, ("PYTHON", "-m", "unittest", "discover")),
)
"""The first whose file is there and says so counts: what the authors wrote down goes before what a language does by itself."""


SETUP = frozenset(
    (
        *(file for file, _, _ in _RUNNERS),
        *(OWN_SCRIPT, ".justfile", "Justfile", "noxfile.py", ".npmrc", ".cargo/config.toml", "build.rs", ".pytest.ini"),
        *("pytest.py", "pytest/__init__.py", "pytest/__main__.py", "unittest.py", "unittest/__init__.py"),
    )
)
"""Files that say how tests are run, or stand before what runs them."""
_ANYWHERE = frozenset("conftest.py pytest.ini sitecustomize.py usercustomize.py package.json Makefile tox.ini".split())
_CONFIGS = ("jest.config.", "jest.setup.", "vitest.config.", "vitest.setup.", ".mocharc.", "karma.conf.", "phpunit.")


def counted(output: str) -> Counts | None:
    """Return how many tests passed and ran, by the last summary of the output or the sum of those that a runner prints in parts.

    None where no summary is known.
    """
    plain = _ESCAPES.sub("", output).replace("\r", "")
    for summary in _SUMMARIES:
        found = summary.read(plain)
        if found is not None:
            return found
    each = _LINE.findall(plain)
    return Counts(sum(word in ("--- PASS", "ok") for word in each), len(each)) if each else None


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class _Summary:
    """The way in which one runner, or a family of them, sums up: each pattern has one group, a number.

    `line` finds the summary, the others are looked for in it. What is `failed` is added up; `total` counts where it is there,
    without what is `skipped`. `parts`: the runner prints a summary for each part.
    """

    line: re.Pattern[str]
    passed: str = r"(\d+) passed\b"
    failed: tuple[str, ...] = (r"(\d+) failed\b",)
    total: str = ""
    skipped: str = ""
    parts: bool = False

    def read(self, text: str) -> Counts | None:
        lines = [match[0] for match in self.line.finditer(text)]
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


_SUMMARIES = (
    _Summary(  # pytest
        re.compile(
            r"^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|x(?:pass|fail)ed|warnings?|deselected)(?:, )?)+ in \d.*$",
            re.M,
        ),
        passed=r"(?<!x)(?<!\w)(\d+) passed",
        failed=(r"(\d+) failed", r"(\d+) errors?\b"),
    ),
    _Summary(  # jest
        re.compile(r"^Tests: +.*\d+ total$", re.M)
    ),
    _Summary(  # vitest
        re.compile(r"^ *Tests  .*\(\d+\)", re.M)
    ),
    _Summary(  # cargo, a line for each crate
        re.compile(r"^test result: .*$", re.M),
        parts=True,
    ),
    _Summary(  # deno
        re.compile(r"^(?:ok|FAILED) \| \d+ passed.*$", re.M),
    ),
    _Summary(  # dotnet, a line for each assembly
        re.compile(r"^(?:Passed|Failed)! +- Failed: .*$", re.M),
        passed=r"Passed: +(\d+)",
        failed=(r"Failed: +(\d+)",),
        parts=True,
    ),
    _Summary(  # ctest
        re.compile(r"^\d+% tests passed, \d+ tests? failed out of \d+", re.M),
        failed=(r"(\d+) tests? failed",),
        total=r"out of (\d+)",
    ),
    _Summary(  # unittest: the verdict is two lines below
        re.compile(r"^Ran \d+ tests? in .*$(?:\n*^(?:OK|FAILED).*$)?", re.M),
        failed=(r"failures=(\d+)", r"errors=(\d+)", r"unexpected successes=(\d+)"),
        total=r"Ran (\d+)",
        skipped=r"skipped=(\d+)",
    ),
    _Summary(  # maven: the last one sums up
        re.compile(r"Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+", re.M),
        failed=(r"Failures: (\d+)", r"Errors: (\d+)"),
        total=r"run: (\d+)",
        skipped=r"Skipped: (\d+)",
    ),
    _Summary(  # rspec
        re.compile(r"^\d+ examples?, \d+ failures?.*$", re.M),
        failed=(r"(\d+) failures?",),
        total=r"(\d+) examples?",
        skipped=r"(\d+) pending",
    ),
    _Summary(  # minitest
        re.compile(r"^\d+ (?:runs|tests), \d+ assertions, .*$", re.M),
        failed=(r"(\d+) failures", r"(\d+) errors"),
        total=r"^(\d+) ",
        skipped=r"(\d+) skips",
    ),
    _Summary(  # phpunit
        re.compile(r"^(?:OK \(\d+ tests?,.*|Tests: \d+, Assertions: .*)$", re.M),
        failed=(r"Failures: (\d+)", r"Errors: (\d+)"),
        total=r"(?:OK \(|Tests: )(\d+)",
        skipped=r"Skipped: (\d+)",
    ),
    _Summary(  # mix
        re.compile(r"^\d+ tests?, \d+ failures?.*$", re.M),
        failed=(r"(\d+) failures?",),
        total=r"^(\d+) ",
        skipped=r"(\d+) skipped",
    ),
    _Summary(  # gradle says it only where some failed
        re.compile(r"^\d+ tests? completed, \d+ failed.*$", re.M),
        failed=(r"(\d+) failed",),
        total=r"^(\d+) ",
        skipped=r"(\d+) skipped",
    ),
    _Summary(  # mocha, on lines of their own
        re.compile(r"^ *\d+ passing\b.*(?:\n *\d+ pending.*)?(?:\n *\d+ failing.*)?", re.M),
        passed=r"(\d+) passing\b",
        failed=(r"(\d+) failing\b",),
    ),
    _Summary(  # node --test
        re.compile(r"^(?:#|ℹ) pass \d+\n(?:#|ℹ) fail \d+$", re.M), passed=r"pass (\d+)", failed=(r"fail (\d+)",)
    ),
)
_LINE = re.compile(r"^(--- PASS|--- FAIL|ok|not ok)(?:: | \d+\b)(?!.*# (?:SKIP|TODO)\b)", re.M)
"""A test of `go test -v` or of the Test Anything Protocol."""
