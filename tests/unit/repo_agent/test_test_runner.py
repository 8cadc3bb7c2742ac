"""How tests are run is read from the files of a repository, and what came of it from the output."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from agent.repo_agent.test_runner import Counts, counted, runner_words
from tests.support import warm_program
from tests.support.each import each

SCRIPT = Path(__file__).parents[3] / "scripts" / "run_tests.py"
PYTEST = ("python3", "-m", "pytest", "-q")


@each(
    ("files", "words"),
    [
        ({}, ()),
        ({"README.md": "make test"}, ()),
        ({"scripts/run_tests.py": "", "Makefile": "test:\n\ttrue\n"}, ("python3", "scripts/run_tests.py")),
        ({"Makefile": "all:\ntest: all\n\ttrue\n", "pytest.ini": ""}, ("make", "test")),
        ({"Makefile": "tests:\n\ntest := 1\n", "pytest.ini": ""}, PYTEST),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, PYTEST),
        ({"pyproject.toml": "[project]\n", "package.json": '{"scripts": {"test": "vitest"}}'}, ("npm", "test", "--silent")),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ()),
        ({"package.json": "{"}, ()),
        ({"Cargo.toml": "[package]"}, ("cargo", "test")),
        ({"go.mod": "module x"}, ("go", "test", "-v", "./...")),
        ({"setup.py": ""}, ("python3", "-m", "unittest", "discover")),
    ],
)  # fmt: skip
def test_how_tests_are_run(files: dict[str, str], words: tuple[str, ...]) -> None:
    assert runner_words(files.get) == words


@each(
    ("output", "passed", "total"),
    [
        ("......\n=========== 6 passed in 0.03s ===========\n", 6, 6),
        ("== \x1b[31m1 failed\x1b[0m, 2 passed, 3 skipped, 1 error, 1 xpassed in 1.2s ==\n", 2, 4),
        ("3 passed, 2 warnings in 0.1s\n", 3, 3),
        ("FAILED tests/a.py - assert 1 failed\n1 failed in 0.1s\n", 0, 1),
        ("Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", 3, 4),
        (" Test Files  1 passed (1)\n      Tests  1 failed | 3 passed (4)\n", 3, 4),
        ("test result: ok. 5 passed; 0 failed; 1 ignored\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n", 6, 8),
        ("ok | 5 passed | 0 failed (12ms)\n", 5, 5),
        ("Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6\n", 5, 5),
        ("75% tests passed, 3 tests failed out of 12\n", 9, 12),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", 2, 4),
        ("Ran 1 test in 0.001s\n\nOK\n", 1, 1),
        ("Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\nTests run: 7, Failures: 1, Errors: 1, Skipped: 1\n", 4, 6),
        ("12 examples, 1 failure, 2 pending\n", 9, 10),
        ("5 runs, 10 assertions, 1 failures, 0 errors, 1 skips\n", 3, 4),
        ("OK (5 tests, 10 assertions)\n", 5, 5),
        ("Tests: 5, Assertions: 10, Failures: 1, Skipped: 1.\n", 3, 4),
        ("5 tests, 1 failure\n", 4, 5),
        ("8 tests completed, 2 failed\n", 6, 8),
        ("  3 passing (10ms)\n  1 pending\n  1 failing\n", 3, 4),
        ("# tests 4\n# pass 3\n# fail 1\n", 3, 4),
        ("--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", 1, 2),
        ("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no network\n", 1, 2),
        ("1..2\nok 1 - a\nnot ok 2 - b # TODO later\n", 1, 1),
    ],
)  # fmt: skip
def test_tests_are_counted(output: str, passed: int, total: int) -> None:
    assert counted(output.replace("\n", "\r\n")) == Counts(passed, total)


@each("output", ["", "ok\n", "5 tests\n", "all 3 passed\n", "it passed in 3 s\n", "PASS\n"])
def test_output_that_counts_nothing(output: str) -> None:
    assert counted(output) is None


def run(repo: Path, *options: str) -> tuple[int, dict[str, object]]:
    words = [sys.executable, str(SCRIPT), "--repo", str(repo), *options]
    done = warm_program.run(words, env=dict(os.environ), capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def test_the_script_runs_them(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").touch()
    (tmp_path / "test_sums.py").write_text("def test_right(): pass\ndef test_wrong(): assert 1 == 2\n")
    code, told = run(tmp_path)
    assert (code, told["ok"], told["exit_code"], told["passed"], told["total"]) == (1, False, 1, 1, 2)
    assert "assert 1 == 2" in str(told["stdout"])


def test_a_script_of_the_repositorys_own_goes_first(tmp_path: Path) -> None:
    own = {"ok": True, "exit_code": 0, "stdout": "fine", "stderr": "", "passed": 41, "total": 41}
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run_tests.py").write_text(f"import json\nprint(json.dumps({own!r}))\n")
    assert run(tmp_path) == (0, own)
    (tmp_path / "scripts" / "run_tests.py").write_text("print('2 passed in 1s')\n")
    code, told = run(tmp_path)
    assert (code, told["passed"], told["stdout"]) == (0, 2, "2 passed in 1s\n")


def test_tests_that_cannot_be_run(tmp_path: Path) -> None:
    code, told = run(tmp_path)
    assert (code, told["ok"], told["passed"]) == (2, False, None)
    assert "says how its tests are run" in str(told["stderr"])
    (tmp_path / "gradlew").touch(mode=0o600)
    code, told = run(tmp_path)
    assert (code, told["stderr"]) == (127, "cannot run ./gradlew: Permission denied")


def test_tests_that_take_too_long_are_ended_with_all_that_they_started(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo begun; sleep 600 & sleep 600\n")
    code, told = run(tmp_path, "--timeout", "0.5")
    assert (code, told["exit_code"], told["stdout"]) == (124, 124, "begun\n")
    assert str(told["stderr"]).endswith("ended after 0.5 seconds")


@pytest.mark.thorough
def test_long_output_keeps_both_ends(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo begun; yes | head -c 500000; echo; echo 3 passed in 1s\n")
    code, told = run(tmp_path)
    out = str(told["stdout"])
    assert (code, told["passed"], len(out) < 201_000) == (0, 3, True)
    assert out.startswith("begun\n") and out.endswith("3 passed in 1s\n") and "characters left out]" in out
