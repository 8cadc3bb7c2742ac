"""`write_file` stays below its base path and asks first."""

import asyncio
import os
import stat

import pytest

from agent.tools.own_tools import WriteFile
from tests.support.agreeing_shell import Agreeing


def write(base, path, content="text", shell=None):
    return asyncio.run(WriteFile(str(base)).run({"path": path, "content": content}, shell or Agreeing()))


def test_writes_and_reports(tmp_path):
    result = write(tmp_path, "sub/a.txt", "héllo")
    assert (result.files_written, result.is_error) == (("sub/a.txt",), False)
    assert (tmp_path / "sub/a.txt").read_text() == "héllo"
    assert os.listdir(tmp_path / "sub") == ["a.txt"]


def test_overwriting_keeps_the_mode(tmp_path):
    (tmp_path / "run.sh").write_text("old")
    os.chmod(tmp_path / "run.sh", 0o750)
    write(tmp_path, "run.sh", "new")
    assert stat.S_IMODE(os.stat(tmp_path / "run.sh").st_mode) == 0o750


@pytest.mark.covers("S0-21")
@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", "out/x", "link", "", "  ", ".", "a/..", "a\x00b", "dir"]
)
def test_never_leaves_the_base_path(tmp_path, path):
    base = tmp_path / "base"
    (base / "dir").mkdir(parents=True)
    (base / "out").symlink_to(tmp_path)
    (base / "link").symlink_to(tmp_path / "target")
    shell = Agreeing()
    result = write(base, path, shell=shell)
    assert result.is_error and result.files_written == ()
    assert shell.asked == []
    assert sorted(os.listdir(tmp_path)) == ["base"]


def test_a_folder_swapped_for_a_link_while_asking(tmp_path):
    base = tmp_path / "base"
    (base / "dir").mkdir(parents=True)

    def swap():
        (base / "dir").rmdir()
        (base / "dir").symlink_to(tmp_path)

    assert write(base, "dir/x", shell=Agreeing(meanwhile=swap)).is_error
    assert not (tmp_path / "x").exists()


def test_a_no_is_a_result(tmp_path):
    result = write(tmp_path, "a", shell=Agreeing(agree=False))
    assert result.is_error
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "arguments", [{}, {"path": 1, "content": "x"}, {"path": "a"}, {"path": "a", "content": "x" * 2_000_000}]
)
def test_bad_arguments(tmp_path, arguments):
    assert asyncio.run(WriteFile(str(tmp_path)).run(arguments, Agreeing())).is_error
