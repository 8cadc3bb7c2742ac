"""`sessions export`: to standard output or into a file that nobody else can read, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.emitters.export import formats
from agent.protocol.errors import InvalidRequest, IoError
from agent.protocol.records import Record
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


def another_day(records: list[Record]) -> list[Record]:
    return [msgspec.structs.replace(record, time=record.time.replace("2026-03-14", "2026-03-20")) for record in records]


@pytest.fixture
def two_days(folder: SessionFolder) -> SessionFolder:
    folder.put(another_day(pictured()), "b", date="2026-03-20")
    return folder


def exported(folder: SessionFolder, capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert folder.run("export", "--format", "json", *words) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def test_several_sessions_are_told_in_the_order_that_is_asked_for(
    two_days: SessionFolder, capfd: pytest.CaptureFixture[str]
) -> None:
    found = exported(two_days, capfd, "b", "a", "b")
    assert found["totals"]["goals"] == 16
    assert (found["session"]["id"], [one["id"] for one in found["session"]["more"]]) == ("b", ["a"])
    assert found["goals"][0]["began"].startswith("2026-03-20")
    assert found["goals"][8]["began"].startswith("2026-03-14")


@pytest.mark.parametrize(
    ("words", "goals"),
    [
        (("--since", "2026-03-20"), 8),
        (("--until", "2026-03-15"), 8),
        (("--since", "2026-03-14", "--until", "2026-03-20"), 16),
        (("a", "--since", "2026-03-14", "--until", "2026-03-14"), 8),
        (("a", "--since", "2026-03-20"), 0),
    ],
)
def test_the_goals_of_a_time(
    two_days: SessionFolder, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], goals: int
) -> None:
    assert exported(two_days, capfd, *words)["totals"]["goals"] == goals


@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_every_format_takes_several(two_days: SessionFolder, capfd: pytest.CaptureFixture[str], name: str) -> None:
    assert folder_text(two_days, capfd, name, "a", "b").count("du -ah src") >= 2


def folder_text(folder: SessionFolder, capfd: pytest.CaptureFixture[str], name: str, *words: str) -> str:
    assert folder.run("export", "--format", name, *words) == 0
    return capfd.readouterr().out


def test_a_time_without_goals_is_said(two_days: SessionFolder) -> None:
    with pytest.raises(InvalidRequest, match="no goal was recorded"):
        two_days.run("export", "--format", "json", "--until", "2026-01-01")
