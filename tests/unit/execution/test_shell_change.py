"""What a rehearsed command leaves in the shell is told before it is taken over."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.execution import state as shell_state
from agent.execution.leftovers import change_words
from agent.execution.state import ShellState
from tests.support.rehearsal_bench import Bench

START = ShellState(cwd="/", env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "GONE": "1"})


def left(folder: Path, command: str, before: ShellState = START) -> ShellState:
    """The state that a real bash leaves."""
    dump, start = folder / "dump", folder / "start"
    dump.write_bytes(b"")
    start.write_text(shell_state.preamble(before, str(dump), "/usr/bin/env"))
    env = shell_state.launch_env(before, str(start))
    subprocess.run(["bash", "-c", command], env=env, cwd=before.cwd, check=True, capture_output=True, timeout=60)
    after = shell_state.parse(dump.read_bytes(), before)
    assert after is not None
    return after


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.remove()


def test_a_rehearsal_tells_it_and_says_nothing_of_its_own_doing(bench: Bench) -> None:
    said = bench.runs("echo a", {"text": "ls() { :; }; export X=1; cd /usr", "then": "commit"}, "cat /dev/null", "cd /")
    assert [tuple(one["shell"]) for one in said] == [
        (),
        ("function ls", "variable X", "folder /usr"),
        (),
        ("folder /",),
    ]


def test_nothing_is_said_where_nothing_changed(tmp_path: Path) -> None:
    first = left(tmp_path, "true")
    assert change_words(START, first) == ()
    second = left(tmp_path, "f() { echo 1; }; alias a=b; shopt -s extglob; set -o pipefail", first)
    assert change_words(second, left(tmp_path, "f; echo", second)) == ()


def test_each_kind_by_its_names_and_without_values(tmp_path: Path) -> None:
    text = (
        "ls() { echo secret; }; function f { :; }; alias rm='rm -rf'; export PATH=/x:$PATH ANSWER=secret; unset GONE; "
        "set -o noclobber; shopt -s extglob; umask 0070; cd /usr"
    )
    assert change_words(START, left(tmp_path, text)) == (
        "functions f, ls",
        "alias rm",
        "variables PATH, ANSWER",
        "options extglob on, noclobber on",
        "no more variable GONE",
        "umask 0070",
        "folder /usr",
    )


def test_what_bash_takes_from_every_script_is_no_change(tmp_path: Path) -> None:
    before = replace(START, env={**START.env, "PS1": "$ ", "PS2": "> "})
    assert "PS1" not in left(tmp_path, ":", before).env
    assert change_words(before, left(tmp_path, ":", before)) == ()
    assert change_words(before, left(tmp_path, "export PS1=x PS4=y; unset GONE", before)) == (
        "variables PS1, PS4",
        "no more variable GONE",
    )


def test_what_is_redefined_or_gone_counts(tmp_path: Path) -> None:
    before = left(
        tmp_path, "f() { cat <<'E'\nls () \n{\nE\n}; g() { :; }; alias a=1 b=\"it's\"; export -f g; set -o noglob"
    )
    after = left(tmp_path, "f() { :; }; unset -f g; alias a=2; unalias b; set +o noglob", before)
    assert change_words(before, after) == (
        "function f",
        "alias a",
        "option noglob off",
        "no more functions g, ls",
        "no more alias b",
        "no more variable BASH_FUNC_g%%",
    )


def test_many_and_long_names_are_bounded_and_what_decides_on_programs_comes_first() -> None:
    env = {**START.env, **{f"A{number:03}": "" for number in range(500)}, "PATH": "/x", "B" * 5_000: ""}
    (said,) = change_words(START, replace(START, env=env))
    assert said.startswith("variables PATH, A000, A001") and said.endswith(" and 482 more")
    assert len(change_words(START, replace(START, env={**START.env, "B" * 5_000: ""}))[0]) < 300


def test_functions_from_the_environment_are_no_change(tmp_path: Path) -> None:
    start = replace(START, env={**START.env, **left(tmp_path, "m() { if true; then echo 1; fi; }; export -f m").env})
    assert "BASH_FUNC_m%%" in start.env and not start.functions
    assert change_words(start, left(tmp_path, "m", start)) == ()
    assert change_words(start, left(tmp_path, "m() { echo 2; }", start)) == ("function m",)
    forged = replace(left(tmp_path, "m", start), functions="m () \n{ \n    echo 3\n}\n")
    assert change_words(start, forged) == ("function m",)
