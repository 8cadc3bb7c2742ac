"""Opening logs in whose place something else may lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.recording.disk import open_log, without_links


def test_a_file_is_read_and_a_pipe_or_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"a\nb\n")
    with open_log(str(tmp_path / "log")) as file:
        assert file.readlines() == [b"a\n", b"b\n"]
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("pipe", "not a regular file"), (".", "Is a directory"), ("none", "No such file")):
        with pytest.raises(IoError, match=said), open_log(str(tmp_path / name)):
            pass


def test_an_error_while_it_is_read_is_told_as_one_of_reading(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with pytest.raises(IoError, match=r"cannot read .*log: the disk"), open_log(str(tmp_path / "log")):
        raise OSError(5, "the disk")


def test_a_link_is_followed_or_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"a\n")
    (tmp_path / "link").symlink_to("log")
    with open_log(str(tmp_path / "link")) as file:
        assert file.read() == b"a\n"
    with pytest.raises(OSError), open(tmp_path / "link", "rb", opener=without_links):
        pass
