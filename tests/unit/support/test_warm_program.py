"""What starts from a process that has its modules sees what it would see after an ordinary start, and ends like it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.support import warm_program
from tests.support.terminal import ROOT, Spawn
from tests.support.warm_program import _forkers, popen, run

SURROUNDINGS = str(ROOT / "tests" / "support" / "surroundings.py")
WORDS = [sys.executable, SURROUNDINGS, "two words", "ä\udcff"]


@pytest.fixture(autouse=True)
def _nothing_else_forks() -> Iterator[None]:
    before = dict(_forkers)
    yield
    for key in _forkers.keys() - before.keys():
        del _forkers[key]


def environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "ODD": "ä\udcff\n=", **more}


def told(start: Any, words: list[str], **options: Any) -> dict[str, Any]:
    done = start(words, stdin=subprocess.DEVNULL, capture_output=True, **options)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("more", "options"),
    [
        ({}, {}),
        ({"LANG": "C", "LC_ALL": "C"}, {}),
        ({"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "0"}, {"start_new_session": True}),
        ({"LONG": "x" * 70_000}, {}),
    ],
    ids=["plainly", "without a language", "leading a session", "with a long environment"],
)
def test_it_sees_what_it_would_see(more: dict[str, str], options: dict[str, Any], tmp_path: Path) -> None:
    env = environ(**more)
    usual = told(subprocess.run, WORDS, env=env, cwd=tmp_path, **options)
    assert usual["parent"] == os.getpid()
    # The second one finds modules that the first one loaded.
    assert [told(run, WORDS, env=env, cwd=tmp_path, **options) for _ in range(2)] == [usual, usual]


@pytest.mark.thorough
def test_it_sees_what_it_would_see_as_another_user() -> None:
    world = OrdinaryWorld()
    try:
        words = [*world.launcher, *WORDS[1:]]
        usual = told(subprocess.run, words, env=world.environ(), cwd=world.work)
        assert told(run, words, env=world.environ(), cwd=world.work) == usual
        assert usual["user"][0][0] != 0
    finally:
        world.remove()


def test_it_sees_the_terminal_that_it_would_see(tmp_path: Path) -> None:
    answers = []
    for start in (pexpect.spawn, Spawn):
        child = start(
            sys.executable, [SURROUNDINGS], env=environ(), cwd=str(tmp_path), dimensions=(30, 100), timeout=60
        )
        answers.append(json.loads(child.read()))
        child.close()
        assert child.exitstatus == 0
    assert answers[0] == answers[1]
    assert answers[0]["terminal"]


def test_it_was_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the other tests here would compare the usual way with itself."""
    forked = []
    monkeypatch.setattr(warm_program, "_forked", lambda *given: forked.append(given) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        popen(WORDS, env=environ(), cwd=tmp_path)
    assert forked
    assert popen([sys.executable, "-c", "", SURROUNDINGS], env=environ()).wait(60) == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(("words", "code"), [(["exit", "7"], 7), (["raise"], 1), (["interrupt"], -signal.SIGINT)])
def test_it_ends_as_it_would_end(words: list[str], code: int) -> None:
    done = [
        start([sys.executable, SURROUNDINGS, *words], env=environ(), capture_output=True)
        for start in (subprocess.run, run)
    ]
    assert [one.returncode for one in done] == [code, code]
    assert done[0].stdout == done[1].stdout
    assert done[0].stderr.splitlines()[-1:] == done[1].stderr.splitlines()[-1:]


def test_where_the_forking_process_was_ended_there_is_another() -> None:
    assert told(run, WORDS, env=environ(OTHER="1"))
    for forker in _forkers.values():
        forker._process.kill()
        forker._process.wait()
    assert told(run, WORDS, env=environ(OTHER="1"))
