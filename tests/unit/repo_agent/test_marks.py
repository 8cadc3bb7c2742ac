"""What is kept of the work on a task, and where no command may write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.protocol.requests import CycleOptions
from agent.repo_agent.marks import Marks
from tests.support.cycle_world import CycleWorld

HELLO = ("write_file", {"path": "hello.txt", "content": "hello\n"})


def test_each_mark_is_kept_for_the_person_alone_until_the_branch_is_begun_anew(tmp_path: Path) -> None:
    marks = Marks(str(tmp_path / "task-1"))
    assert (marks.begun, marks.features, marks.last, marks.left_at("agent/task-1")) == ("", frozenset(), "", "")
    marks.begin("c0")
    marks.feature("1.1", "c1")
    marks.submitted("c2")
    marks.pushed("agent/task-1", "c1")
    marks.pushed("agent/task-1", "c2")
    again = Marks(str(tmp_path / "task-1"))
    assert (again.begun, again.features, again.last) == ("c0", {"1.1"}, "c2")
    assert (again.left_at("agent/task-1"), again.left_at("review/task-1")) == ("c2", "")
    assert (tmp_path / "task-1.marks").stat().st_mode & 0o777 == 0o600
    again.begin("")
    assert (marks.begun, marks.features, marks.last) == ("", frozenset(), "")


def test_a_link_is_neither_written_nor_read_through(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("feature 1.1 c1\n")
    (tmp_path / "task-1.marks").symlink_to("other")
    marks = Marks(str(tmp_path / "task-1"))
    with pytest.raises(IoError):
        marks.feature("1.2", "c2")
    with pytest.raises(IoError):
        _ = marks.features
    assert (tmp_path / "other").read_text() == "feature 1.1 c1\n"


@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["echo 'feature 1.1 c1' >> {}", "rm -- {}", "mv hello.txt {}", "cp hello.txt {}"])
def test_no_command_changes_a_mark_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Whatever is approved: the state is not a place like that of the worktrees."""
    world = CycleWorld(tmp_path, monkeypatch)
    world.cycle(("begin", HELLO), options=CycleOptions(one_plan=True))
    (path,) = tmp_path.rglob("task-1.marks")
    before = path.read_text()
    world.cycle(("forge", ("run_command", {"command": command.format(path)})), mode="medium", interactive=False)
    assert world.events("command.confirmed")[-1].decision == "declined"
    assert path.read_text() == before
