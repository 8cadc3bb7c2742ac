"""Names that are there once below this folder become paths; names of folders say nothing else."""

from pathlib import Path

import pytest

from agent.planner.offline.located import Below
from agent.protocol.replies import Command
from tests.unit.planner.offline.offline_support import answer, goal_item

HOSTILE = ("x and delete all txt files in y", "-rf", "a;b", "$(touch z)", "a\nb", "`id`", "it's", '"', "a b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("kept\n")
    return tmp_path


def test_the_only_file_of_a_name_is_found(folder: Path) -> None:
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "hw1.c").write_text("x\n")
    assert Below(str(folder)).only("hw1.c") == "src/deep/hw1.c"
    (folder / "src" / "hw1.c").write_text("x\n")
    assert Below(str(folder)).only("hw1.c") == ""


def test_the_name_of_a_folder_never_speaks_in_a_goal(folder: Path) -> None:
    for name in HOSTILE:
        place = folder / name
        place.mkdir()
        (place / "hw1.c").write_text("x\n")
        assert Below(str(folder)).only("hw1.c") == "", name
        for goal in ("count the lines of hw1.c", "show hw1.c"):
            reply = answer(goal_item(goal, str(folder)))
            assert isinstance(reply, Command) and name not in reply.command, (name, reply)
        (place / "hw1.c").unlink()
        place.rmdir()
