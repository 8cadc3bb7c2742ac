"""Tests that several processes run are all told of, once, also where a process dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.warm_program import ROOT

TESTS = """
import os, signal, warnings
from pathlib import Path

import pytest

NAME = "name"


@pytest.fixture(scope="module", params=["one", "two"])
def shared(request, tmp_path_factory):
    with open(os.environ["MADE"], "a") as file:
        file.write(f"{os.getpid()} {request.param}\\n")
    return request.param


@pytest.mark.parametrize("number", range(40))
def test_many(number, tmp_path):
    print("said", number)
    (tmp_path / "mine").touch()
    assert number != 5, "five is wrong"


def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def test_ended():
    os._exit(0)


@pytest.mark.parametrize("number", range(10))
def test_sharing(shared, number):
    assert shared in ("one", "two")


def test_skipped():
    pytest.skip("not here")


def test_warned():
    warnings.warn("look out")


@pytest.fixture
def broken():
    yield
    raise ValueError("at its end")


def test_torn_down(broken):
    pass
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").touch()
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "tests.support.forked_workers",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MADE": str(folder / "made"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [*words, f"--basetemp={folder}/t", str(folder)], cwd=folder, env=env, capture_output=True, text=True
    )


def test_all_are_told_of(tmp_path: Path) -> None:
    done = run(tmp_path, "--workers", "3")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[-1].startswith("3 failed, 61 passed, 1 skipped, 1 warning, 1 error in "), done.stdout + done.stderr
    assert len({line for line in lines if line.startswith("PASSED ")}) == 61
    assert "FAILED test_some.py::test_killed - the process of this test ended with -9" in lines
    assert "FAILED test_some.py::test_ended - the process of this test ended with 0" in lines
    assert {"E       AssertionError: five is wrong", "said 5", "E       ValueError: at its end"} <= set(lines)
    assert f"  {tmp_path}/test_some.py:42: PytestWarning: UserWarning: look out" in lines
    made = (tmp_path / "made").read_text().split("\n")
    assert len(set(made)) == len(made) <= 2 * 5 + 1, "what a process made, it made once"
