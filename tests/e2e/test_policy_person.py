"""Rules made at a real prompt, rules of a folder, and what they let run or keep from running."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm_program
from tests.support.terminal import CTRL_C, CTRL_D, ROOT, Terminal

F2, F8 = "\x1b[12~", "\x1b[19~"
DENY = '[[rule]]\nname = "no-make"\naction = "deny"\nprogram = "make"\nreason = "use just"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home, and in the folder `bin` beside it a `make` that only leaves a mark."""
    folder = tmp_path / "home"
    (folder / ".config" / "agent-shell").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "make"
    shim.write_text(f"#!/bin/sh\necho made $* >> {tmp_path}/mark\n")
    shim.chmod(0o755)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def open_terminal(home: Path, work: Path) -> Terminal:
    path = f"{home.parent}/bin:{os.environ['PATH']}"
    return Terminal("--planner", "offline", home=home, cwd=work, PATH=path, PAGER="cat", columns=160)


def once(home: Path, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The program without a terminal."""
    env = {"HOME": str(home), "PATH": f"{home.parent}/bin:{os.environ['PATH']}", "AGENT_SESSION_DIR": str(home / "s")}
    return warm_program.run(
        [sys.executable, str(ROOT / "agent_shell.py"), *words],
        env=env,
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def runs(home: Path) -> list[str]:
    mark = home.parent / "mark"
    return mark.read_text().splitlines() if mark.exists() else []


def events(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted((home / "sessions").glob("*.jsonl")) for line in path.open()]


def test_always_allow_and_take_it_back(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!make test\r")
        person.at_confirmation("make test")
        person.type(F8)
        person.see(r"rule: .*for how long\? ❯", where="screen")
        person.type("\r")  # an Enter too many answers nothing
        person.see(r"a letter out of this row")
        person.type("w\r")
        person.see(r"rule make-test is in\s.*this command still waits for Enter")
        person.at_confirmation("make test")
        assert runs(home) == []
        person.type("\r")
        person.see("completed")
        person.at_prompt()
        assert runs(home) == ["made test"]

        person.type("!make test\r")
        person.see(r"make-test\).*completed")
        person.at_prompt()
        assert runs(home) == ["made test"] * 2

        person.type("!make other\r")
        person.at_confirmation("make other")
        person.type(CTRL_C)
        person.at_prompt()

        person.type(":policy\r")
        person.see(r"make-test: `make test`.*made at the prompt")
        person.at_prompt()
        for answer, gone in (("n", "stays"), ("y", "is gone")):
            person.type(":policy forget make-test\r")
            person.see(r"\[y/N\] ❯$", where="line")
            person.type(f"{answer}\r")
            person.see(f"rule make-test {gone}")
            person.at_prompt()
        person.type("!make test\r")
        person.at_confirmation("make test")
        person.type(CTRL_C)
        person.at_prompt()
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert runs(home) == ["made test"] * 2
    log = events(home)
    by = [event["by"] for event in log if event["type"] == "command.confirmed" and event["decision"] == "approved"]
    assert by == ["person", "policy"]
    added, removed = (event for event in log if event["type"].startswith("rule."))
    assert 'name = "make-test"' in added["text"]
    assert added["where"] == removed["where"]
    assert (added["rules"], removed["rules"]) == (["make-test"], ["make-test"])


@pytest.mark.thorough
def test_rule_of_a_session_ends_with_it(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!make test\r")
        person.at_confirmation("make test")
        person.type(F8)
        person.see(r"for how long\? ❯", where="line")
        person.type("s\r")
        person.at_confirmation("make test")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("!make test\r")
        person.see("completed")
        person.at_prompt()
        person.type(":new\r")
        person.see("new session")
        person.at_prompt()
        person.type("!make test\r")
        person.at_confirmation("make test")
        person.type(CTRL_C)
        person.at_prompt()
    assert runs(home) == ["made test"]
    assert not (home / ".config" / "agent-shell" / "policy.toml").exists()


@pytest.mark.thorough
def test_high_risk_offers_no_rule(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!git reset --hard\r")
        person.at_confirmation("git reset --hard")
        person.type(F8)
        person.see("cannot be allowed in advance: high risk")
        person.at_confirmation("git reset --hard")
        person.type(CTRL_C)
        person.at_prompt()


@pytest.mark.thorough
def test_explain_is_about_the_text_in_the_editor_and_comes_back_to_it(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!ls\r")
        person.at_confirmation("ls")
        person.type("; rm -rf build")
        person.see(r"medium edited ❯ ls; rm -rf build", where="screen")
        person.type("\x1b[D" * 5)
        person.type(F2)
        person.see(r"part by part.*rm .*deletes files.*medium edited ❯ ls; rm -rf build.*F1\s+more", where="screen")
        person.type("my-")
        person.see(r"edited ❯ ls; rm -rf my-build", where="line")
        person.type(CTRL_C)
        person.at_prompt()
    assert runs(home) == []


def test_rules_of_a_folder_are_shown_before_they_count(home: Path, work: Path) -> None:
    rules = work / ".agent-shell-policy.toml"
    rules.write_text(DENY)
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!make test\r")
        person.see(r"l applies here from now on.*│ reason = \"use just\".*use just")
        person.at_prompt()
        assert runs(home) == []
        rules.write_text("")
        person.type("!make test\r")
        person.at_confirmation("make test")
        person.type("\r")
        person.see("completed")
        person.at_prompt()
        rules.write_text(DENY.replace("deny", "ask") + "# changed\n")
        person.type("!make test\r")
        person.see(r"│ # changed")
        person.at_confirmation("make test")
        person.type(CTRL_C)
        person.at_prompt()
    assert runs(home) == ["made test"]


@pytest.mark.thorough
def test_without_a_terminal_they_are_shown_on_standard_error_and_once(home: Path, work: Path) -> None:
    rules = work / ".agent-shell-policy.toml"
    rules.write_text(DENY)
    first, second = (once(home, work, "exec", "--approve", "medium", "make test") for _ in range(2))
    assert (first.returncode, second.returncode) == (5, 5)
    assert (first.stdout, second.stdout) == ("", "")
    assert '│ reason = "use just"' in first.stderr
    assert "│" not in second.stderr
    assert runs(home) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("content", [b"# " + b"x" * 70_000, b"# caf\xe9"])
def test_what_cannot_be_shown_lets_nothing_run_unasked(home: Path, work: Path, content: bytes) -> None:
    (work / ".agent-shell-policy.toml").write_bytes(content)
    done = once(home, work, "exec", "--approve", "medium", "make test")
    assert done.returncode == 6
    assert re.search(r"nothing runs unasked", done.stderr)
    assert runs(home) == []


def test_a_folder_cannot_allow(home: Path, work: Path) -> None:
    allow = '[[rule]]\nname = "all"\naction = "allow"\nprogram = "make"\nwords = ["test"]\n'
    (work / ".agent-shell-policy.toml").write_text(allow)
    done = once(home, work, "exec", "make test")
    assert done.returncode == 6
    assert runs(home) == []
