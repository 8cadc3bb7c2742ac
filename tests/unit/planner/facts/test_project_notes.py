"""AGENTS.md as untrusted context: what counts, what does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.planner.facts.regular_file import MAX_NOTES, load_project_notes
from agent.protocol.messages import ContextBlock


class Redactor:
    def redact(self, text: str) -> str:
        return text.replace("hunter2", "[redacted]")


def load(folder: Path) -> ContextBlock | None:
    return load_project_notes(str(folder), Redactor())


def test_a_regular_file_is_read_and_redacted(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("\ufeffUse tabs. hunter2\n")
    assert load(tmp_path) == ContextBlock(label="AGENTS.md", text="Use tabs. [redacted]")


def test_nothing_there(tmp_path: Path):
    assert load(tmp_path) is None
    assert load(tmp_path / "missing") is None


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_none(tmp_path: Path, data: bytes):
    (tmp_path / "AGENTS.md").write_bytes(data)
    assert load(tmp_path) is None


def test_a_large_file_is_cut_at_a_line_and_says_so(tmp_path: Path):
    line = "x" * 99 + "\n"
    (tmp_path / "AGENTS.md").write_text(line * 1000)
    block = load(tmp_path)
    assert block is not None
    assert len(block.text) <= MAX_NOTES
    assert all(len(part) == 99 for part in block.text.split("\n"))
    assert block.truncated_bytes == 100_000 - len(block.text) - 1


def test_invalid_utf8_is_replaced(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_bytes(b"a\xff\x00b")
    block = load(tmp_path)
    assert block is not None
    assert block.text == "a\N{REPLACEMENT CHARACTER}\x00b"


def test_a_link_inside_the_workspace_counts(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("inside")
    (tmp_path / "AGENTS.md").symlink_to("docs/notes.md")
    block = load(tmp_path)
    assert block is not None
    assert block.text == "inside"


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "AGENTS.md", "../work-evil/x"])
def test_a_link_that_leaves_the_workspace_or_nowhere_does_not(tmp_path: Path, target: str):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "work-evil").mkdir()
    (tmp_path / "work-evil" / "x").write_text("secret")
    (work / "AGENTS.md").symlink_to(target)
    assert load(work) is None


def test_a_workspace_that_is_itself_a_link_works(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "AGENTS.md").write_text("x")
    (tmp_path / "alias").symlink_to("real")
    block = load(tmp_path / "alias")
    assert block is not None


def test_what_is_no_regular_file_is_none_and_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "AGENTS.md")
    assert load(tmp_path) is None
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").mkdir()
    assert load(tmp_path) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_none(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("x")
    (tmp_path / "AGENTS.md").chmod(0)
    assert load(tmp_path) is None
