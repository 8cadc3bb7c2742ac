"""The badge in front of the command, at a real terminal: that of the text as it stands, after each key."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent.planner.facts.facts import SystemFacts
from agent.risk.classifier import classify
from tests.support.terminal import CTRL_C, CTRL_U, Terminal
from tests.support.tries import sampled, some

BACKSPACE = "\x7f"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace; the classifier of this process sees the same home as the one under test."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "work" / "build").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "work"


def level(text: str, cwd: Path) -> str:
    return classify(text, SystemFacts().risk_context(text, str(cwd))).level.value


def open_terminal(work: Path, command: str) -> Terminal:
    person = Terminal("--planner", "offline", home=work.parent / "home", cwd=work)
    person.at_prompt()
    person.type(f"!{command}\r")
    person.at_confirmation(command)
    return person


def badge_of(person: Terminal, text: str, work: Path) -> str:
    """Wait for the badge of `text`; its level."""
    expected = level(text, work)
    person.see(rf"(?m)^[●▲■] {expected}( edited)? ❯ {re.escape(text.rstrip())}$", where="screen")
    return expected


@pytest.mark.thorough
@sampled
def test_each_key_has_its_level(work: Path) -> None:
    text = "rm -rf build"
    keys = [BACKSPACE] * 5 + list("/ ; ls ~/.ssh") + [BACKSPACE] * 7 + list("# rest")
    looked_at = some(range(len(keys)), 4)
    seen = []
    with open_terminal(work, text) as person:
        for number, key in enumerate(keys):
            person.type(key)
            text = text[:-1] if key == BACKSPACE else text + key
            if number in looked_at:
                seen.append(badge_of(person, text, work))
        person.type(CTRL_U)
        person.see(r"(?m)^skip edited ❯$", where="screen")
        for key in "git push --force":
            person.type(key)
        assert badge_of(person, "git push --force", work) == "high"
        person.type(CTRL_C)
        person.at_prompt()
    assert set(seen) >= {"medium", "high"}
    assert os.listdir(work) == ["build"]


@pytest.mark.thorough
def test_fast_typing_and_a_long_paste(work: Path) -> None:
    with open_terminal(work, "ls") as person:
        typed = " -la; cp a b; rm -rf ~"
        person.type(typed)
        assert badge_of(person, "ls" + typed, work) == "high"
        pasted = "echo " + " ".join(f"word{n}" for n in range(1_400))
        assert len(pasted) > 10_000
        person.type(CTRL_U + f"\x1b[200~{pasted}\x1b[201~")
        # Its beginning is out of sight, so the badge stands in the line of keys as well.
        person.see(r"● low edited ·.*F1\s+more", where="screen")
        person.type(" > /etc/passwd")
        person.see(r"■ high edited ·.*/etc/passwd.*F1\s+more", where="screen")
        for _ in " > /etc/passwd":
            person.type(BACKSPACE)
        person.see(r"● low edited ·.*F1\s+more", where="screen")
        person.type(CTRL_C)
        person.at_prompt()
