"""A repository is surveyed within bounds, and precedents are asked for where there is a model."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.conversation.background.task_context import TaskContext, TaskMeans, Work
from agent.conversation.background.task_handlers import HANDLERS, is_project, lookup, survey
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.planner.untrusted import data_block
from agent.protocol.errors import InvalidState
from tests.support.interview_case import engine, known, state
from tests.unit.conversation.framework.progress.test_tasks import task

DEFINITION = msgspec.convert(task(), BackgroundTaskDefinition)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    for name, text in {
        "README.md": "# Shop\nSells paper.\ntoken = ghp_" + "a1B2c3D4" * 5,
        "pyproject.toml": '[project]\nname = "shop"\n',
        "src/a.py": "",
        "src/b.py": "",
        "src/deep/c.py": "",
        "node_modules/x/y.js": "",
        ".env": "KEY=secret",
        ".git/config": "",
        "notes\x1b[2J.txt": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "outside.md").write_text("outside")
    (folder / "README.outside").symlink_to(tmp_path / "outside.md")
    (folder / "link").symlink_to(tmp_path)
    os.mkfifo(folder / "readme.fifo")
    return folder


@pytest.mark.covers("S3-92")
def test_a_survey_says_what_is_there(repository: Path) -> None:
    text = survey(str(repository))
    assert text.startswith("Files: 7\nBy ending: .py 3, ")
    assert "Folders: src 3\n" in text
    assert "README.md begins:\n# Shop\nSells paper." in text
    assert '[project]\nname = "shop"' in text


def test_it_follows_no_links_reads_no_secrets_and_waits_for_nothing(repository: Path) -> None:
    text = survey(str(repository))
    for hidden in ("outside", "secret", "ghp_", "node_modules", "y.js", "\x1b"):
        assert hidden not in text
    assert "[redacted:" in text


def test_it_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("x" * 1_000_000)
    deep = tmp_path
    for _ in range(20):
        deep = deep / "d"
        deep.mkdir()
        (deep / "f").touch()
    text = survey(str(tmp_path))
    assert text.startswith("Files: 7\n")
    assert len(text) < 5_000
    for number in range(1_100):
        (tmp_path / f"many{number:04}").mkdir()
    (tmp_path / "many1050" / "late").touch()
    assert survey(str(tmp_path)).startswith("Files: 2\n")
    assert survey(str(tmp_path / "nothing")) == "Files: 0\nBy ending: none\nFolders: none"


async def _step(name: str, work: Work) -> str:
    return await work()


def done(handler: str, folder: Path, memory: WorkingMemory, complete: Complete | None = None) -> str:
    means = TaskMeans(folder=str(folder), complete=complete)
    context = TaskContext(task=DEFINITION, memory=memory, means=means, step=_step)
    return asyncio.run(HANDLERS[handler].run(context))


def test_handlers_by_their_names(repository: Path) -> None:
    asked: list[str] = []

    async def complete(prompt: str, schema: dict[str, Any] | None) -> str:
        asked.append(prompt)
        return "Some shop: sells paper; has no stock"

    assert HANDLERS.keys() == {"codebase_survey", "project_lookup", "precedent_analysis", "competitive_analysis"}
    memory = state(engine(), {"problem": known("Orders\nget lost"), "empty": known("")})
    assert done("codebase_survey", repository, memory).startswith("Files: 7")
    assert done("precedent_analysis", repository, memory, complete) == "Some shop: sells paper; has no stock"
    assert asked[0].endswith(data_block("notes", "- problem: Orders get lost"))
    assert done("competitive_analysis", repository, memory, complete) == "Some shop: sells paper; has no stock"
    assert "customers could choose instead" in asked[1]


def test_the_documents_of_the_project_are_looked_up(repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "orders.md").write_text("# Orders\n\nOrders get lost when the till is offline.\n")
    memory = state(engine(), {"problem": known("Orders get lost")})
    assert done("project_lookup", repository, memory).startswith("docs/orders.md:1\n# Orders\n\nOrders get lost when")
    nothing = state(engine(), {"problem": known("xylophone")})
    assert done("project_lookup", repository, nothing) == "No document here speaks of it."


def test_without_a_model_there_are_no_precedents(repository: Path) -> None:
    with pytest.raises(InvalidState, match="a model"):
        done("precedent_analysis", repository, state(engine()))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "yard"
    for name, text in {
        ".git/HEAD": "",
        "README.md": "# Yard\n\nFinds parcels. token = ghp_" + "a1B2c3D4" * 5 + "\n",
        "docs/drivers.rst": "Drivers wait forty minutes for a parcel.\x1b[2J\n",
        "docs/many.txt": "parcel " * 60_000,
        "src/parcel.py": "parcel = 1  # parcel parcel\n",
        ".hidden/parcel.md": "a hidden parcel\n",
        "node_modules/x/parcel.md": "a parcel of others\n",
        "parcels.txt": "parcel\0binary",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "outside.md").write_text("a parcel outside\n")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(folder / "parcel.md")
    return folder


def test_the_nearest_passages_come_with_their_place(project: Path) -> None:
    found = lookup(str(project), "which drivers wait for a parcel?")
    assert found.startswith("docs/drivers.rst:1\nDrivers wait forty minutes")


def test_nothing_else_is_read_and_nothing_secret_is_told(project: Path) -> None:
    found = lookup(str(project), "parcel parcels drivers yard token")
    for hidden in ("ghp_", "\x1b", "hidden", "others", "outside", "parcel = 1", "binary"):
        assert hidden not in found
    assert "[redacted:" in found
    assert len(found) < 10_000


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("passwords.txt", False),
        ("yard_API-key.txt", False),
        ("Secrets/yard.md", False),
        ("docs/secrets.md", True),
        ("keyboard.txt", True),
    ],
)
def test_notes_that_are_named_for_secrets_are_not_told(project: Path, name: str, told: bool) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("marmalade opens the gate\n")
    assert ("marmalade" in lookup(str(project), "marmalade gate")) is told


def test_a_folder_that_is_no_project_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text("a parcel\n")
    assert not is_project(str(tmp_path)) and not is_project(str(tmp_path / "none"))
    with pytest.raises(InvalidState, match="project"):
        lookup(str(tmp_path), "parcel")


def test_a_manifest_makes_it_one(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    assert is_project(str(tmp_path))


def test_no_index_is_left_behind(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert lookup(str(project), "drivers")
    assert list(place.iterdir()) == []
