"""Compiled tables: used while they are what their sources say and nobody else could have written them, else made anew."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from agent import compiled

made: list[int] = []


def content() -> dict[str, bytes]:
    """What the tests compile."""
    made.append(1)
    return {"one": b"tables", "none": b"", "other": b"more tables"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made.clear()
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "a.toml").write_text("x = 1\n")
    os.utime(tmp_path / "knowledge" / "a.toml", (1, 1))
    os.utime(tmp_path / "knowledge", (1, 1))
    time.sleep(0.03)  # what is as old as times are late counts as younger
    return tmp_path


def opened(place: Path) -> compiled.CompiledFile:
    return compiled.CompiledFile(str(place / "_made"), str(place / "knowledge"), f"{__name__}:content")


def load(place: Path) -> dict[str, bytes | None]:
    parts = opened(place)
    return {name: parts.get(name) for name in sorted(parts.names(), reverse=True)}


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        compiled.importlib, "import_module", lambda name: __import__("types").SimpleNamespace(content=content)
    )


def test_it_is_made_once(place: Path) -> None:
    assert load(place) == load(place) == {"one": b"tables", "none": b"", "other": b"more tables"}
    assert (len(made), (place / "_made").stat().st_mode & 0o777) == (1, 0o644)


@pytest.mark.parametrize("name", ["knowledge/a.toml", "knowledge/b.toml"])
def test_a_younger_or_another_source_makes_it_anew(place: Path, name: str) -> None:
    load(place)
    (place / name).write_text("x = 2\n")
    later = (place / "_made").stat().st_mtime_ns + 1_000_000
    os.utime(place / name, ns=(later, later))
    load(place)
    assert len(made) == 2


def test_a_source_whose_time_was_set_back_makes_it_anew(place: Path) -> None:
    load(place)
    (place / "knowledge" / "a.toml").write_text("x = 2\n")
    os.utime(place / "knowledge" / "a.toml", (1, 1))  # as `cp -p` and unpacking do, in a folder that stays as it is
    os.utime(place / "knowledge", (1, 1))
    load(place)
    assert len(made) == 2


def test_a_younger_module_beside_the_builder_makes_it_anew(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "pyproject.toml").touch()
    (place / "room").mkdir()
    (place / "room" / "reader.py").write_text("fields = 1\n")
    time.sleep(0.03)
    monkeypatch.setattr(compiled, "_ROOT", str(place))

    def once() -> None:
        compiled.CompiledFile(str(place / "_made"), str(place / "knowledge"), "room.builder:content")

    once()
    once()
    assert len(made) == 1
    (place / "room" / "notes.txt").touch()
    once()
    assert len(made) == 1
    (place / "room" / "reader.py").write_text("fields = 2\n")  # what is compiled would be read wrongly
    once()
    assert len(made) == 2


@pytest.mark.parametrize("spoil", ["others may write", "cut off", "changed", "its index", "empty", "a link", "a pipe"])
def test_what_is_not_to_be_trusted_is_made_anew(place: Path, spoil: str) -> None:
    load(place)
    file = place / "_made"
    if spoil == "others may write":
        file.chmod(0o666)
    elif spoil == "cut off":
        file.write_bytes(file.read_bytes()[:-2])
    elif spoil == "changed":
        file.write_bytes(file.read_bytes()[:-1] + b"X")
    elif spoil == "its index":
        file.write_bytes(file.read_bytes().replace(b"none", b"nine"))
    elif spoil == "empty":
        file.write_bytes(b"")
    elif spoil == "a link":
        file.rename(place / "elsewhere")
        file.symlink_to(place / "elsewhere")
    else:
        file.unlink()
        os.mkfifo(file)
    assert load(place) == {"one": b"tables", "none": b"", "other": b"more tables"}
    assert len(made) == 2
    assert not file.is_symlink()


def test_where_it_cannot_be_kept_it_is_made_each_time(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (_ for _ in ()).throw(OSError(30, "read-only")))
    assert load(place) == load(place) == content()
    assert len(made) == 3


def test_it_is_made_anew_where_a_clock_went_ahead_when_it_was_made(place: Path) -> None:
    load(place)
    os.utime(place / "_made", (4e9, 4e9))
    load(place)
    assert len(made) == 2
    assert (place / "_made").stat().st_mtime < 4e9


def test_a_part_that_is_read_later_is_of_the_file_that_was_opened(place: Path) -> None:
    load(place)
    parts = opened(place)
    (place / "_made").unlink()
    assert parts.get("one") == b"tables"
    assert parts.get("of no such name") is None
    assert len(made) == 1


def test_a_part_that_is_spoiled_after_the_file_was_opened_is_made_anew(place: Path) -> None:
    load(place)
    parts = opened(place)
    file = place / "_made"
    file.write_bytes(file.read_bytes().replace(b"more", b"less"))
    assert (parts.get("one"), len(made)) == (b"tables", 1)
    assert (parts.get("other"), parts.get("one"), len(made)) == (b"more tables", b"tables", 2)
    assert b"more tables" in file.read_bytes()
