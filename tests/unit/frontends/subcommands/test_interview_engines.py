"""Engines are listed, linted and drawn; a broken one is told and costs the others nothing."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry import registry as shipped
from agent.conversation.registry.registry import GROUP, EngineRegistry
from agent.frontends.subcommands import interview_engines
from tests.support.shipped_engines import EXAMPLE

BROKEN = EntryPoint("broken", "no_such_package.engine", GROUP)


@pytest.fixture(autouse=True)
def mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with an engine, beside the shipped ones and one that cannot be read."""
    made = EngineRegistry(techniques=library(), handlers=HANDLERS, installed=(BROKEN,))
    monkeypatch.setattr(shipped, "registry", lambda: made)
    monkeypatch.setattr(interview_engines, "registry", lambda: made)
    return Path(shutil.copytree(EXAMPLE, tmp_path / "mine"))


def changed(mine: Path, old: str, new: str) -> str:
    file = mine / "engine.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return str(mine)


def test_engines_are_listed_and_a_broken_one_with_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert interview_engines.run_engines(json_output=True) == 0
    rows = {row["engine"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(rows) == {"broken", "business-profile", "exploration", "ideation", "project-discovery"}
    assert rows["broken"] == {"engine": "broken", "version": "?", "about": "there is no package no_such_package.engine"}


def test_nothing_is_found_beside_a_broken_engine(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert interview_engines.run_lint(str(mine), json_output=False) == 0
    assert capsys.readouterr().out == "feature-prioritization: nothing to mend\n"


def test_warnings_are_told(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = changed(mine, "availableTechniques = [", 'availableTechniques = ["roll_with_resistance", ')
    assert interview_engines.run_lint(folder, json_output=True) == 0
    text = "Technique roll_with_resistance is available, but no phase uses it"
    assert json.loads(capsys.readouterr().out) == {"level": "warning", "text": text}


def test_errors_fail(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert interview_engines.run_lint(changed(mine, "order = 2", "order = 7"), json_output=False) == 1
    assert capsys.readouterr().out == "error: Phase order is not sequential: 1, 3, 7\n"


def test_a_drawing_is_harmless_text(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = changed(mine, 'displayName = "Discover Features"', 'displayName = "\\u001b[31mred"')
    assert interview_engines.run_graph(folder, as_mermaid=False) == 0
    assert interview_engines.run_graph(folder, as_mermaid=True) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "flowchart TD" in out
