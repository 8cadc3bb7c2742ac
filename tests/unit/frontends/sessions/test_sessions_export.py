"""`sessions export`: to standard output or into a file that nobody else can read, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.emitters.export import formats
from agent.protocol.errors import InvalidRequest, IoError
from tests.support.pictured_session import pictured
from tests.support.session_folder import SessionFolder


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(tmp_path)
    made.put(pictured())
    return made


def test_standard_output_is_where_it_goes(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("export", "--format", "json", "a") == 0
    assert json.loads(capfd.readouterr().out)["totals"]["goals"] == 8
    assert folder.run("export", json=True) == 0
    assert json.loads(capfd.readouterr().out)["format"] == "agent-shell-session"
    assert folder.run("export", "--format", "markdown", "-o", "-") == 0
    assert capfd.readouterr().out.startswith("# Session a\n")


@pytest.mark.parametrize(("name", "mode"), [("markdown", 0o600), ("sh", 0o700)])
def test_a_file_is_ours_alone(folder: SessionFolder, tmp_path: Path, name: str, mode: int) -> None:
    before = os.umask(0)
    try:
        assert folder.run("export", "--format", name, "-o", str(tmp_path / "out")) == 0
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o7777 == mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "sessions"]


def test_what_is_there_stays_unless_it_is_forced(folder: SessionFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("mine")
    with pytest.raises(InvalidRequest, match="exists already"):
        folder.run("export", "--format", "json", "-o", str(out))
    assert out.read_text() == "mine"
    assert folder.run("export", "--format", "json", "--force", "-o", str(out)) == 0
    assert json.loads(out.read_text())


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_link_is_not_followed(folder: SessionFolder, tmp_path: Path, force: tuple[str, ...]) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(InvalidRequest):
        folder.run("export", "--format", "json", *force, "-o", str(tmp_path / "link"))
    assert (tmp_path / "target").read_text() == "mine"


def test_half_an_export_leaves_nothing(folder: SessionFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str, source: object) -> object:
        yield b"x" * 100_000
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agent.frontends.sessions.export.export", broken)
    with pytest.raises(IoError, match="No space left"):
        folder.run("export", "--format", "json", "-o", str(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["sessions"]


def test_a_place_that_cannot_be_written(folder: SessionFolder, tmp_path: Path) -> None:
    with pytest.raises(IoError, match="cannot write"):
        folder.run("export", "--format", "json", "-o", str(tmp_path / "nowhere" / "out"))


def test_a_format_is_needed(folder: SessionFolder) -> None:
    with pytest.raises(InvalidRequest) as said:
        folder.run("export")
    assert "markdown" in said.value.hint


def test_the_formats_of_the_command_line_are_there() -> None:
    assert set(formats.FORMATS) == {"asciicast", "html", "markdown", "json", "sh"}
