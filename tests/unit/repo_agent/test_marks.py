"""What is kept of the work on a task, and where no command may write it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.protocol.requests import CycleOptions
from agent.repo_agent.marks import Marks, new_place
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


def test_what_a_killed_rehearsal_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    first, held = new_place(str(tmp_path))
    os.mkdir(first)
    second, also = new_place(str(tmp_path))
    assert os.path.isdir(first)
    held.close()  # as when its process is gone
    third, more = new_place(str(tmp_path))
    assert not os.path.exists(os.path.dirname(first)) and os.path.isdir(os.path.dirname(second))
    assert os.stat(os.path.dirname(third)).st_mode & 0o777 == 0o700
    for each in (also, more):
        each.close()


def test_what_nobody_has_claimed_is_left_for_a_day_and_other_things_for_good(tmp_path: Path) -> None:
    for name in ("rehearsal-new", "rehearsal-old", "shop-1a2b3c4d", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "rehearsal-link").symlink_to("elsewhere")
    for name in ("rehearsal-old", "shop-1a2b3c4d", "elsewhere"):
        os.utime(tmp_path / name, (0, 0))
    new_place(str(tmp_path))[1].close()
    left = {"rehearsal-new", "shop-1a2b3c4d", "elsewhere", "rehearsal-link"}
    assert left < {each.name for each in tmp_path.iterdir()} and not (tmp_path / "rehearsal-old").exists()


def test_where_no_folder_can_be_made_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IoError, match="no folder for a rehearsal could be made"):
        new_place(str(tmp_path / "file"))
