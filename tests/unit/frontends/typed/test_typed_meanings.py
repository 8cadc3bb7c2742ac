"""What names mean where a line was typed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.frontends.typed.meanings import SessionMeanings


@pytest.fixture
def around(tmp_path: Path) -> SessionMeanings:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, mode in (("kubectl", 0o755), ("git", 0o755), ("ls", 0o755), ("notes", 0o644)):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(mode)
    (tmp_path / "go.sh").write_text("")
    (tmp_path / "go.sh").chmod(0o755)
    (tmp_path / "Makefile").write_text("all:\n")
    os.mkfifo(tmp_path / "pipe")
    environ = {"PATH": f"{programs}:/nowhere", "HOME": str(tmp_path)}
    functions = "declare -f greet\ngreet () \n{ \n    echo hi\n}\n"
    return SessionMeanings(str(tmp_path), environ, functions=functions, aliases="alias ll='ls -l'\n")


def test_programs(around: SessionMeanings) -> None:
    here = [
        name
        for name in ("kubectl", "notes", "cd", "greet", "ll", "./go.sh", "~/go.sh", "./bin", "hi", "", "a\0b")
        if around.is_program(name)
    ]
    assert here == ["kubectl", "cd", "greet", "ll", "./go.sh", "~/go.sh"]


def test_files(around: SessionMeanings) -> None:
    assert (
        around.exists("go.sh") and around.exists("~/bin/git") and not around.exists("gone") and not around.exists("\0")
    )
    assert around.is_folder("bin") and not around.is_folder("go.sh") and not around.is_folder("\0")
    assert around.text("Makefile") == "all:\n"
    assert around.text("pipe") == "" == around.text("gone")  # and nobody waits for a writer


def test_slips(around: SessionMeanings) -> None:
    assert around.nearest("gti") == ("git",)
    assert around.nearest("sl") == ("ls",)
    assert around.nearest("lx") == ()
    assert around.nearest("kubctl") == ("kubectl",)
    assert around.nearest("lll") == ("ll",)
    assert around.nearest("ab") == around.nearest("nothing-like-it") == ()
