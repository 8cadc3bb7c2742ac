"""Persistent input history."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.frontends.repl.goal_history import GoalHistory


def keep(text: str) -> str:
    return text


def loaded(path: Path) -> list[str]:
    async def read() -> list[str]:
        return [entry async for entry in GoalHistory(str(path), keep).load()]

    return asyncio.run(read())


def test_kept_between_processes_newest_first_and_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    history = GoalHistory(str(path), keep)
    for line in ("one", "two\nlines", " not this", "!!nor this", "two\nlines"):
        history.append_string(line)
    assert loaded(path) == ["two\nlines", "one"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_secrets_are_redacted(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    GoalHistory(str(path), lambda text: text.replace("hunter2", "[redacted]")).append_string("use hunter2")
    assert "hunter2" not in path.read_text()
    assert loaded(path) == ["use [redacted]"]


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"good"\n{"no": 1}\n\xff\xfe\n"torn')
    assert loaded(path) == ["good"]


def test_wide_modes_are_tightened(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.touch(mode=0o644)
    GoalHistory(str(path), keep).append_string("x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_cannot_be_a_history_is_left_alone(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "history.jsonl", tmp_path / "other"
    other.write_text("mine")
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(other)
    else:
        os.mkfifo(path)
    history = GoalHistory(str(path), keep)
    history.append_string("x")
    assert history.get_strings() == ["x"]
    assert history.trouble
    assert other.read_text() == "mine"


def test_only_the_end_of_a_huge_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"line {number}"\n' for number in range(100_000)))
    entries = loaded(path)
    assert entries[0] == "line 99999"
    assert 1000 < len(entries) < 100_000


@given(st.lists(st.text(min_size=1), max_size=5))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("h") / "history.jsonl"
    history = GoalHistory(str(path), keep)
    for line in lines:
        history.append_string(line)
    assert loaded(path) == history.get_strings()[::-1]
