"""Every way to set a variable counts: where the real bash then runs another program, the rating is not low."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

WAYS = (
    "{n}={v}; ls", "export {n}={v}; ls", "declare -x {n}={v}; ls", "typeset {n}={v}; ls", "readonly {n}={v}; ls",
    "printf -v {n} %s {v}; ls", "printf -v{n} %s {v}; ls", "read {n} <<< {v}; ls", "read -r {n} < <(echo {v}); ls",
    "IFS=, read a {n} <<< x,{v}; ls", "echo {v} | {{ read {n}; ls; }}", "mapfile -t {n} <<< {v}; ls",
    "readarray -t {n} <<< {v}; ls", "read -a {n} <<< {v}; ls", "for {n} in {v}; do ls; done",
    "for {n} in {v}; do :; done; ls", "set -- {v}; for {n}; do ls; done", "echo | select {n} in {v}; do ls; done",
    "select {n} in {v}; do ls; done <<< 1", "unset {n}; : ${{{n}:={v}}}; ls", "unset {n}; : ${{{n}={v}}}; export {n}; ls",
    "declare -n r={n}; r={v}; ls", "declare -n r=x; for r in {n}; do r={v}; done; ls", "f() {{ local -n r=$1; r={v}; ls; }}; f {n}",
    "eval {n}={v}; ls", "eval '{n}'={v}; ls", "declare {n}[0]={v}; ls", "{n}=({v}); ls", "{n}[0]={v}; ls", "read '{n}[0]' <<< {v}; ls",
    "printf -v '{n}[0]' %s {v}; ls", "exec {{{n}}}<f; ls", "coproc {n} {{ :; }}; ls", "getopts x {n}; ls", "getopts x {n} -x; ls",
    "(({n}=10)); ls", "let {n}=10; ls", "unset {n}; ls", "{n}=; ls", "env {n}={v} ls", "{n}={v} ls", "set -a; {n}={v}; ls",
    "x={n}; export $x={v}; ls",
    "x={n}={v}; export $x; ls", "x={n}; read $x <<< {v}; ls", "x={n}; printf -v $x %s {v}; ls", "declare BASH_CMDS[ls]={v}/ls; ls",
    "BASH_CMDS[ls]={v}/ls; ls", "printf -v 'BASH_CMDS[ls]' %s {v}/ls; ls", "read 'BASH_CMDS[ls]' <<< {v}/ls; ls",
    ": ${{BASH_CMDS[ls]:={v}/ls}}; ls", "hash -p {v}/ls ls; ls", "BASH_CMDS+=([ls]={v}/ls); ls",
)  # fmt: skip


def level(command: str, folder: str = "/home/me/work") -> Level:
    return classify(command, RiskContext(cwd=folder, home="/home/me", workspace=folder)).level


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `ls` is somebody else's, and so it is in folders below that odd values of PATH name."""
    root = tmp_path_factory.mktemp("assigning")
    for place in ("", "own", "?", "x", "10", "63", "60"):
        program = root / place / "ls"
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho OTHER PROGRAM\n")
        program.chmod(0o755)
    (root / "f").touch()
    return root


def test_what_runs_another_program_is_not_low(folder: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C"}
    ran, missed = 0, []
    for command in [way.format(n="PATH", v=value) for way in WAYS for value in (".", "own")]:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
        )
        if "OTHER PROGRAM" in done.stdout:
            ran += 1
            if level(command, str(folder)) is Level.LOW:
                missed.append(command)
    assert not missed
    assert ran > len(WAYS)


@each(
    "way",
    [
        "printf -v {n} %s '{v}'; {c}", "read -r {n} <<< '{v}'; {c}", "for {n} in '{v}'; do {c}; done", "read {n} < f; {c}",
        "declare -n r={n}; r='{v}'; {c}", "unset {n}; : ${{{n}:='{v}'}}; {c}", "mapfile -t {n} <<< '{v}'; {c}",
    ],
)  # fmt: skip
@each(
    ("name", "value", "command"),
    [
        ("GIT_PAGER", "./x", "git log"), ("LD_PRELOAD", "./x.so", "ls"), ("PS4", "$(./x)", "set -x; ls"),
        ("BASH_ENV", "./x", "bash --version"), ("PERL5OPT", "-Mx", "perl -v"), ("NODE_OPTIONS", "-r ./x", "node --version"),
    ],
)  # fmt: skip
def test_what_programs_obey_counts_however_it_was_set(way: str, name: str, value: str, command: str) -> None:
    """Which variables are exported already is not known: those that usually are count."""
    text = way.format(n=name, v=value, c=command)
    assert level(text) is not Level.LOW, text
