"""Folders of rehearsals: kept while one goes on, removed when its process is gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.repo_agent.rehearsals import new_place


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
