"""Whatever is kept first in a new home: the state folder around it is private, too."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config.paths import make_folder
from agent.execution import job_log as jobs
from agent.execution.overlay.places import state_base
from agent.frontends.repl.goal_history import GoalHistory
from agent.policy.shown_once import Showing, ShownFiles
from agent.policy.store import add_rules
from agent.protocol.events.session import SessionStarted
from agent.recording.envelope import SystemClock
from agent.recording.index.database import open_database
from agent.recording.jsonl import open_session


def modes(base: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in base.rglob("*") if path.is_dir()}


def test_every_missing_parent_is_private(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        make_folder(str(tmp_path / "a" / "b" / "c"))
    finally:
        os.umask(before)
    assert modes(tmp_path) == {0o700}


def test_heads_make_a_private_state_folder(tmp_path: Path) -> None:
    heads = tmp_path / "state" / "agent-shell" / "heads"
    recorder = open_session(
        str(tmp_path / "s"),
        clock=SystemClock(),
        redactor=None,
        started=SessionStarted(session_id=""),
        session_id="one",
        heads=str(heads),
    )
    recorder.close()
    assert heads.is_dir()
    assert modes(tmp_path) == {0o700}


def test_an_index_makes_a_private_state_folder(tmp_path: Path) -> None:
    open_database(str(tmp_path / "gone"), str(tmp_path / "state" / "agent-shell")).close()
    assert (tmp_path / "state" / "agent-shell" / "index").is_dir()
    assert modes(tmp_path) == {0o700}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_whatever_is_kept_first_makes_a_private_state_folder(tmp_path: Path, umask: int) -> None:
    first: dict[str, Callable[[Path], object]] = {
        "job": lambda state: jobs.open_log(str(state / "jobs")).end(),
        "shown": lambda state: ShownFiles(str(state / "shown.json")).seen(Showing("/p", "text", "digest")),
        "rule": lambda state: add_rules(str(state / "policy.toml"), '[[rule]]\nname = "a"\naction = "deny"\n'),
        "history": lambda state: GoalHistory(str(state / "history"), str).store_string("a goal"),
        "undo": lambda state: state_base(os.fsencode(state)),
    }
    for name, keep in first.items():
        before = os.umask(umask)
        try:
            keep(tmp_path / name / "state" / "agent-shell")
        finally:
            os.umask(before)
        assert (tmp_path / name / "state" / "agent-shell").is_dir()
        assert modes(tmp_path / name) == {0o700}, name
