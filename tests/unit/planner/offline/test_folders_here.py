"""Folders that are here are meant before those of the home folder that go by the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.planner.offline.offline_support import command_for


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
