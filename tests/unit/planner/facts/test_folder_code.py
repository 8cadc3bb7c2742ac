"""What a folder has programs run: those of the project in place of the system's, and files that programs run untold."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify


def rated(command: str, folder: Path) -> str:
    context = RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder))
    facts = path_facts(command, context, watch=Watch(60))
    return classify(
        command, RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder), facts=facts)
    ).level.value


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose folder `bin` is the first of PATH, with programs of its own."""
    folder = tmp_path / "project"
    (folder / "bin").mkdir(parents=True)
    for name in ("ls", "git", "own-tool"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return folder


def test_a_program_of_the_project_in_place_of_the_systems_is_the_projects_code(placed: Path) -> None:
    assert rated("ls", placed) == "medium"
    assert rated("true && git log | cat", placed) == "medium"
    assert rated("cat x", placed) == "low"
    assert rated("/bin/ls", placed) == "low"


def test_a_link_to_the_systems_program_is_that(placed: Path) -> None:
    (placed / "bin" / "ls").unlink()
    (placed / "bin" / "ls").symlink_to("/bin/true")
    assert rated("ls", placed) == "low"


def test_an_environment_that_was_activated_is_the_persons_own(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(placed))
    assert rated("ls", placed) == "low"


def test_a_folder_that_others_can_fill(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = placed.parent / "elsewhere"
    (placed / "bin").rename(elsewhere)
    monkeypatch.setenv("PATH", f"{elsewhere}:/usr/bin:/bin")
    for mode, level in ((0o755, "low"), (0o777, "medium"), (0o757, "medium"), (0o1777, "medium")):
        elsewhere.chmod(mode)
        assert rated("ls", placed) == level, oct(mode)
