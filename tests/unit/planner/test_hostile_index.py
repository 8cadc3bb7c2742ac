"""A repository's index made by somebody who wants us to wait, to fall over, or to look elsewhere."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from agent.planner.facts.git_work import uncommitted
from agent.planner.facts.path_facts import path_facts
from agent.protocol.decisions import RiskContext


def index_of(names: list[bytes], *, size: int = 0, flags: int = 0) -> bytes:
    """An index of version 2 with empty digests."""
    data = bytearray(b"DIRC" + struct.pack(">II", 2, len(names)))
    for name in names:
        entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, size) + bytes(20)
        entry += struct.pack(">H", flags | min(len(name), 0xFFF)) + name
        data += entry + bytes(8 - len(entry) % 8)
    return bytes(data)


def repository(folder: Path, index: bytes) -> str:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "index").write_bytes(index)
    return str(folder)


def test_names_that_lead_elsewhere_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    top = repository(tmp_path / "w", index_of([b"/proc/kmsg", b"/etc/passwd", b"../secret", b"a/../../secret"], size=9))
    assert uncommitted(top).changed == 0
    (tmp_path / "w" / "own").write_text("x")
    (tmp_path / "w" / ".git" / "index").write_bytes(index_of([b"/etc/passwd", b"own"], size=9))
    assert uncommitted(top).changed == 1


@pytest.mark.parametrize(
    "index",
    [
        b"DIRC" + struct.pack(">II", 4, 0xFFFFFFFF) + b"\xff" * 4_000_000,  # a number without end
        b"DIRC"
        + struct.pack(">II", 4, 0xFFFFFFFF)
        + (bytes(60) + b"\x80\x00" + b"\x00x\x00") * 60_000,  # names that grow
        index_of([b"x" * 100_000]),
        index_of([b"f"])[:-20],
    ],
)
def test_an_index_without_end_is_left(tmp_path: Path, index: bytes) -> None:
    work = uncommitted(repository(tmp_path, index))
    assert (work.changed, work.complete) == (0, False)


def test_entries_that_say_nothing_count_as_time_too(tmp_path: Path) -> None:
    names = [b"f%d" % number for number in range(1_000)]
    top = repository(tmp_path, index_of(names, flags=0x8000))
    assert not uncommitted(top, spent=lambda: True).complete
    assert uncommitted(top).complete


def test_facts_are_collected_all_the_same(tmp_path: Path) -> None:
    top = repository(tmp_path, index_of([b"/proc/kmsg", b"/proc/self/mem", b"\x1b[2J\n"]))
    facts = path_facts("rm -rf .", RiskContext(cwd=top, home="/home/u", workspace=top))
    assert "dir" in facts[top]
