"""`agent-shell policy`: rules from words at the person's own shell, by the code of `:policy`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import warm_program

ROOT = Path(__file__).resolve().parents[4]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    place = tmp_path / "work"
    (place / ".git").mkdir(parents=True)
    home = str(tmp_path / "home")
    environ = {
        "HOME": home,
        "PATH": "/usr/bin:/bin",
        "XDG_CONFIG_HOME": f"{home}/config",
        "AGENT_SESSION_DIR": f"{home}/logs",
    }

    def policy(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "agent_shell.py"), "policy", *words]
        return warm_program.run(
            command, cwd=place, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    return policy


def rules(tmp_path: Path) -> str:
    path = tmp_path / "home" / "config" / "agent-shell" / "policy.toml"
    return path.read_text() if path.exists() else ""


def test_a_rule_from_words_is_written_listed_and_taken_back(run: Run, tmp_path: Path) -> None:
    made = run("deny", "deleting", "in", "~/photos", "--yes")
    assert made.returncode == 0, made.stderr
    assert "deny" in rules(tmp_path)
    assert "`agent-shell policy forget" in made.stderr
    name = made.stderr.partition(":")[0]
    assert f"  {name}: " in run().stdout == run("list").stdout == run("show").stdout
    assert run("forget", name, "--yes").returncode == 0
    assert "deny" not in rules(tmp_path)


def test_what_is_allowed_is_one_command_with_its_options(run: Run, tmp_path: Path) -> None:
    assert run("allow", "--yes", "--", "make", "-j4", "test").returncode == 0
    assert "make" in rules(tmp_path)
    assert run("allow", "--yes", "rm -rf /").returncode == 2


def test_nothing_is_written_where_nobody_agrees(run: Run, tmp_path: Path) -> None:
    asked = run("ask", "git", "push")
    assert asked.returncode == 2
    assert "only by a person" in asked.stderr
    assert not rules(tmp_path)


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [("ask",), ("list", "x"), ("deny", "--yes", "deleting in src"), ("often", "x")])
def test_what_is_no_rule_is_a_usage_error(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert run(*words).returncode == 2
    assert not rules(tmp_path)
