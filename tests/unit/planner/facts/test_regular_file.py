"""What lies in a folder may be anything: only the text of files is read, and nothing is waited for."""

from __future__ import annotations

import os
from pathlib import Path

from agent.planner.facts.regular_file import beginning
from agent.planner.offline.planner import _peek


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abcdef")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    assert beginning(str(tmp_path / "file"), 3) == beginning(str(tmp_path / "link"), 3) == b"abc"
    for path in ("loop", "pipe", "to_pipe", "missing", ".", "a\0b"):
        assert beginning(str(tmp_path / path), 3) == b"", path
    assert beginning("/dev/zero", 3) == b""


def test_a_goal_does_not_look_into_what_the_kernel_makes_up(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,age\n")
    (tmp_path / "binary.csv").write_bytes(b"name\0age")
    (tmp_path / "kernel.csv").symlink_to("/proc/self/status")
    assert _peek(str(tmp_path / "t.csv")) == "name,age\n"
    for path in (str(tmp_path / "binary.csv"), str(tmp_path / "kernel.csv"), "/proc/self/status", "/dev/zero", "a\0b"):
        assert _peek(path) == "", path
