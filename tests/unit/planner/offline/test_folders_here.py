"""Folders that are here are meant before those of the home folder that go by the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.replies import Command
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item


@pytest.mark.parametrize(
    ("goal", "there", "elsewhere"),
    [
        ("zip the documents folder", "zip -r documents.zip documents", "zip -r ~/Documents.zip ~/Documents"),
        ("list my documents", "ls documents", "ls ~/Documents"),
        ("how big is my downloads folder", "du -sh downloads", "du -sh ~/Downloads"),
    ],
)
def test_a_folder_that_is_here_is_the_one(goal: str, there: str, elsewhere: str, tmp_path: Path) -> None:
    assert command_for(goal, str(tmp_path)) == elsewhere
    for name in ("documents", "downloads"):
        (tmp_path / name).mkdir()
    assert command_for(goal, str(tmp_path)) == there


def test_a_word_that_means_files_is_a_folder_after_into(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    assert command_for("move all pdf files into documents", str(tmp_path)).endswith("-exec mv -t documents {} +")
    assert command_for("find all documents in documents", str(tmp_path)).startswith("find documents ")


def test_the_columns_of_an_access_log_are_known_where_its_date_has_two_words() -> None:
    from agent.planner.offline.grammar.tables import table_of

    common = '10.0.0.1 - - [26/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 12\n'
    assert table_of(common, "access.log").names["status"] == "9"
    assert "status" not in table_of(common.replace(":10:00:00 +0000", ""), "access.log").names


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("delete notes", "rm -r notes"),
        ("copy notes to backup", "cp -a notes backup"),
        ("move reports into notes", "mv reports notes"),
        ("compress notes", "tar -czf notes.tar.gz notes"),
        ("delete notes and reports", "rm -r notes reports"),
        ("copy notes and reports to backup", "mkdir -p backup && cp -a notes reports backup/"),
        ("zip notes and reports into all.zip", "zip -r all.zip notes reports"),
        ("create a tar of reports", "tar -czf reports.tar.gz reports"),
        ("how old is notes", "stat -c %y notes"),
        ("how big is reports", "du -sh reports"),
    ],
)
def test_a_word_is_the_folder_of_that_name_where_something_is_done_to_it(
    goal: str, command: str, tmp_path: Path
) -> None:
    assert not isinstance(answer(goal_item(goal, str(tmp_path))), Command)
    for name in ("notes", "reports"):
        (tmp_path / name).mkdir()
    assert command_for(goal, str(tmp_path)) == command


def test_a_kind_of_file_stays_one_beside_a_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    assert "-iname '*.mp4'" in command_for("delete videos in src", str(tmp_path))


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("make a folder a in ~/missing", "mkdir -p ~/missing/a"),
        ("create a folder out in notes", "mkdir -p notes/out"),
        ("make a folder in ~/missing", "mkdir -p ~/missing"),
    ],
)
def test_what_a_new_folder_is_called_is_not_left_out(goal: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert command_for(goal, str(tmp_path)) == command


@pytest.mark.parametrize(
    ("order", "command"),
    [
        ("by age", "sort -t, -k 2,2n people.csv"),
        ("by name", "sort -t, -k 1,1 people.csv"),
        ("by age descending", "sort -t, -k 2,2rn people.csv"),
    ],
)
def test_what_a_table_is_sorted_by_is_its_column(order: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age\nbob,3\nann,10\n")
    assert command_for(f"sort people.csv {order}", str(tmp_path)) == command
