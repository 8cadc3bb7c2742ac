"""Two files or trees that nobody could tell apart have one digest; where that cannot be said there is none."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from agent.execution.journal.attributes import Contents
from agent.execution.overlay.folders import Folders


def digest(path: Path, contents: Contents | None = None, *, inside: bool = True) -> str:
    mode = path.lstat().st_mode if os.path.lexists(path) else stat.S_IFREG
    with Folders() as folders:
        return (contents or Contents()).digest(folders, os.fsencode(path), mode, inside=inside)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("text")
    (folder / "link").symlink_to("deep")
    shutil.copytree(folder, tmp_path / "two", symlinks=True)
    return folder


def test_a_copy_has_the_digest_of_what_it_is_a_copy_of(tree: Path) -> None:
    assert digest(tree) == digest(tree.parent / "two") != ""


@pytest.mark.parametrize(
    "change",
    [
        lambda two: (two / "deep" / "file").write_text("texT"),
        lambda two: (two / "deep" / "file").chmod(0o600),
        lambda two: (two / "deep").chmod(0o700),
        lambda two: (two / "new").touch(),
        lambda two: (two / "link").unlink(),
        lambda two: ((two / "link").unlink(), (two / "link").symlink_to("elsewhere")),
        lambda two: (two / "deep" / "file").rename(two / "deep" / "other"),
        lambda two: os.link(two / "deep" / "file", two.parent / "outside"),
        lambda two: os.utime(two / "deep" / "file", ns=(1, 1)),
        lambda two: ((two / "deep" / "file").unlink(), os.mkfifo(two / "deep" / "file")),
    ],
)
def test_what_differs_has_another_one(tree: Path, change: object) -> None:
    two = tree.parent / "two"
    times = os.stat(two / "deep" / "file").st_mtime_ns
    change(two)  # type: ignore[operator]
    if (two / "deep" / "file").is_file() and os.stat(two / "deep" / "file").st_mtime_ns != 1:
        os.utime(two / "deep" / "file", ns=(times, times))
    assert digest(tree) != digest(two)


def test_without_what_is_inside_only_the_thing_itself_counts(tree: Path) -> None:
    two = tree.parent / "two"
    (two / "new").touch()
    assert digest(tree, inside=False) == digest(two, inside=False) != ""
    two.chmod(0o700)
    assert digest(tree, inside=False) != digest(two, inside=False)


def test_what_cannot_be_read_or_is_too_much_has_none(tree: Path) -> None:
    assert digest(tree / "missing") == ""
    assert digest(tree, Contents(most_bytes=3)) == ""
    assert digest(tree, Contents(most_entries=2)) == ""
    spent = Contents(most_bytes=4)
    assert digest(tree / "deep" / "file", spent) and not digest(tree / "deep" / "file", spent)
