"""`delete_file` stays below its base path, leaves folders alone and asks first."""

import asyncio
import os
from pathlib import Path

import pytest

from agent.protocol.ports import ToolResult
from agent.tools.own_tools import DeleteFile
from tests.support.agreeing_shell import Agreeing


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "dir").mkdir(parents=True)
    (base / "a").write_text("a")
    (tmp_path / "x").write_text("outside")
    (base / "out").symlink_to(tmp_path)
    (base / "link").symlink_to(tmp_path / "x")
    os.mkfifo(base / "pipe")
    return base


def delete(base: Path, path: object, shell: Agreeing | None = None) -> ToolResult:
    return asyncio.run(DeleteFile(str(base)).run({"path": path}, shell or Agreeing()))


def test_deletes_and_reports(base: Path) -> None:
    assert not delete(base, "dir/../a").is_error
    assert not (base / "a").exists()


def test_of_a_link_the_link_goes(base: Path) -> None:
    assert not delete(base, "link").is_error
    assert not (base / "link").is_symlink() and (base.parent / "x").read_text() == "outside"


@pytest.mark.covers("S0-21")
@pytest.mark.parametrize("path", ["/etc/x", "../x", "dir/../../x", "out/x", "", " ", ".", "dir/..", "a\0b", 1, None])
def test_never_leaves_the_base_path(base: Path, path: object) -> None:
    shell = Agreeing()
    assert delete(base, path, shell).is_error and shell.asked == []
    assert (base.parent / "x").exists()


@pytest.mark.parametrize("path", ["gone", "dir", "pipe"])
def test_what_is_no_file(base: Path, path: str) -> None:
    shell = Agreeing()
    assert delete(base, path, shell).is_error and shell.asked == []


def test_another_file_under_the_name_while_asking_is_kept(base: Path) -> None:
    def swap() -> None:
        (base / "other").write_text("mine")
        os.replace(base / "other", base / "a")

    assert delete(base, "a", Agreeing(meanwhile=swap)).is_error
    assert (base / "a").read_text() == "mine"


def test_a_no_is_a_result(base: Path) -> None:
    assert delete(base, "a", Agreeing(agree=False)).is_error and (base / "a").exists()
