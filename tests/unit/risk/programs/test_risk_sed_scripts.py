"""Sed scripts: what they write and run is read as sed reads it; sed itself is asked where it can be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.risk.programs.sed_scripts import SedSyntaxError, judge_sed, read_sed
from tests.support.each import each

WRITES = [
    ("w/etc/x", ["/etc/x"]),
    ("1w out", ["out"]),
    ("$!w out", ["out"]),
    ("/re/Iw out", ["out"]),
    (r"\,a/b,w out", ["out"]),
    ("s/a/b/w out", ["out"]),
    ("s|a|b|gpw out", ["out"]),
    ("/[/]/w out", ["out"]),
    ("1,5{w out\n}", ["out"]),
    ("1~2w out;p", ["out;p"]),
    ("y/abc/xyz/;w out", ["out"]),
    ("p;W out", ["out"]),
    ("a\\\nw text\nw out", ["out"]),
    ("s/a\\/w b/c/;t end;:end\nw out", ["out"]),
    ("# w comment\nw out", ["out"]),
    ("s/w out/x/", []),
    ("/w out/p", []),
    (r"s/a/w \/out/", []),
    ("a w out", []),
    ("$!N;P;D", []),
    (":a;N;$!ba;s/\\n/ /g", []),
    ("r w out", []),
]


@each(("script", "files"), WRITES)
def test_files_that_a_script_writes(script: str, files: list[str]) -> None:
    assert judge_sed(script).writes == files


@pytest.mark.parametrize(("script", "files"), [case for case in WRITES if case[1] in (["out"], ["out;p"], [])])
def test_sed_itself_makes_these_files(script: str, files: list[str], tmp_path: Path) -> None:
    command = ["sed", "-n", "-e", script]
    done = subprocess.run(command, input=b"a\nb\n", cwd=tmp_path, capture_output=True, check=False)
    if done.returncode == 0:  # another sed may refuse what GNU's takes
        assert sorted(path.name for path in tmp_path.iterdir()) == files


@each(
    ("script", "commands"),
    [
        ("1e ls -l", ["ls -l"]),
        ("erm -rf x", ["rm -rf x"]),
        ("2e", [""]),
        ("/e /d", []),
        ("s/e x/y/", []),
        ("i\\\ne ls", []),
    ],
)
def test_commands_that_a_script_runs(script: str, commands: list[str]) -> None:
    found = judge_sed(script)
    assert found.commands == commands
    assert not found.runs_result


def test_a_substitution_can_run_what_it_makes() -> None:
    assert judge_sed("s/a/b/e").runs_result
    assert judge_sed("/x/s,a,b,2pe").runs_result
    assert not judge_sed("s/a/e/").runs_result


def test_what_sed_would_refuse_is_guessed_at() -> None:
    with pytest.raises(SedSyntaxError):
        read_sed("k;w out")
    assert judge_sed("k;w out").writes == ["out"]


@given(st.text(alphabet="swe/[]:^\\{};!,$1 \nax,~", max_size=60))
def test_any_text_is_read_to_its_end(text: str) -> None:
    judge_sed(text)


@given(st.text(alphabet="swe[]/:", min_size=1, max_size=6), st.integers(1, 3_000))
def test_repeated_text_is_read_in_little_time(piece: str, times: int) -> None:
    judge_sed(piece * times)
