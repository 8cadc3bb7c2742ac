"""`rename_file` stays below its base path at both ends, replaces nothing and asks first."""

import asyncio
import os
from pathlib import Path

import pytest

from agent.protocol.ports import ToolResult
from agent.tools.own_tools import RenameFile
from tests.support.agreeing_shell import Agreeing


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "dir").mkdir(parents=True)
    (base / "a").write_text("a")
    (base / "there").write_text("there")
    (base / "out").symlink_to(tmp_path)
    os.mkfifo(base / "pipe")
    return base


def rename(base: Path, path: object, target: object, shell: Agreeing | None = None) -> ToolResult:
    return asyncio.run(RenameFile(str(base)).run({"path": path, "target": target}, shell or Agreeing()))


def test_renames_and_reports(base: Path) -> None:
    result = rename(base, "a", "dir/b")
    assert (result.is_error, result.files_written) == (False, ("dir/b",))
    assert (base / "dir/b").read_text() == "a" and not (base / "a").exists()


def test_of_a_link_the_link_is_renamed(base: Path) -> None:
    assert not rename(base, "out", "in").is_error
    assert (base / "in").is_symlink() and not (base / "out").is_symlink()


PATHS = ("/etc/x", "../x", "dir/../../x", "out/x", "", " ", ".", "dir/..", "a\0b", 1, None)


@pytest.mark.covers("S0-21")
@pytest.mark.parametrize(("path", "target"), [*((path, "b") for path in PATHS), *(("a", path) for path in PATHS)])
def test_never_leaves_the_base_path(base: Path, path: object, target: object) -> None:
    shell = Agreeing()
    assert rename(base, path, target, shell).is_error
    assert shell.asked == [] and (base / "a").read_text() == "a"


@pytest.mark.parametrize(("path", "target"), [("gone", "b"), ("dir", "b"), ("pipe", "b"), ("a", "there"), ("a", "dir")])
def test_what_is_no_file_or_is_there_already(base: Path, path: str, target: str) -> None:
    shell = Agreeing()
    assert rename(base, path, target, shell).is_error and shell.asked == []


def test_a_target_that_appears_while_asking_is_kept(base: Path) -> None:
    result = rename(base, "a", "b", Agreeing(meanwhile=lambda: (base / "b").write_text("mine")))
    assert result.is_error
    assert ((base / "a").read_text(), (base / "b").read_text()) == ("a", "mine")


def test_a_no_is_a_result(base: Path) -> None:
    assert rename(base, "a", "b", Agreeing(agree=False)).is_error and (base / "a").exists()
