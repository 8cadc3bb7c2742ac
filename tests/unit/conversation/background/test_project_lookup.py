"""Documents of a project are looked up within its folder: no links, no secrets, nothing of a folder that is no project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.conversation.background.project_lookup import is_project, lookup
from agent.protocol.errors import InvalidState


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
