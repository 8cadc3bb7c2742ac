"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from agent.config.private_file import append_whole, replace_file
from tests.support.full_disk import files_up_to
from tests.support.processes import killed_after


def test_what_a_killed_process_left_goes_when_it_is_old_and_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    kept = [
        "a.md.1-0123456g.new",
        "a.md.new",
        "b.a.md.1-01234567.new",
        "a.md.1-01234567.new.txt",
        "a.md.7-01234567.new",
    ]
    for name in (*kept, "a.md.1-01234567.new"):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / "a.md.7-01234567.new")  # somebody may be writing it
    (tmp_path / "a.md.2-01234567.new").symlink_to(path)
    replace_file(str(path), b"one")
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "a.md", "a.md.2-01234567.new"])
    assert path.read_bytes() == b"one" and path.stat().st_mode & 0o777 == 0o600


def test_a_kill_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    replace_file(str(path), b"one")

    def write(watch: object) -> None:
        real = os.fsync
        os.fsync = lambda fd: (watch(""), real(fd))[1]  # type: ignore[operator, assignment]
        replace_file(str(path), b"two")

    assert killed_after(1, write)
    assert path.read_bytes() == b"one" and len(os.listdir(tmp_path)) == 2
    for each in tmp_path.iterdir():
        os.utime(each, (0, 0))
    replace_file(str(path), b"three")
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        replace_file(str(tmp_path / "folder"), b"x")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("room", range(0, 9, 2))
def test_what_is_appended_is_there_whole_or_not_at_all(tmp_path: Path, room: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    with files_up_to(4 + room), suppress(OSError):
        append_whole(fd, b"second\n")
    assert path.read_bytes() == (b"one\nsecond\n" if room > 6 else b"one\n")
    append_whole(fd, b"third\n")
    os.close(fd)
    assert path.read_bytes().endswith(b"\nthird\n")
