"""A goal about the result of the one before it: as a remark before it ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.planner.offline.referring import changes_files, is_follow_up
from agent.protocol.replies import Chat, Command
from tests.support.each import each
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item, message_for, ran

FOUND = "find all python files"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("")
    return str(tmp_path)


@each(
    ("text", "expected"),
    [
        ("only the ones in src", "find src -type f -name '*.py'"),
        ("no, only those in src", "find src -type f -name '*.py'"),
        ("only those larger than 1 MB", "find . -type f -name '*.py' -size +1M"),
        ("without the ones in src", "find . -type f -name '*.py' -not -path '*/src/*'"),
        ("count them", "find . -type f -name '*.py' | wc -l"),
        ("sort them by size", r"find . -type f -name '*.py' -printf '%s %p\n' | sort -n | cut -d' ' -f2-"),
    ],
)
def test_after_a_search(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir(exist_ok=True)
    cwd = str(tmp_path)
    reply = answer(goal_item(FOUND, cwd), ran(command_for(FOUND, cwd), stdout="./src/a.py\n"), goal_item(text, cwd))
    assert isinstance(reply, Command)
    assert reply.command == expected


def test_deleting_them_deletes_no_more_than_was_found(folder: str) -> None:
    reply = answer(goal_item(FOUND, folder), ran(command_for(FOUND, folder)), goal_item("delete them", folder))
    assert isinstance(reply, Command)
    assert "-name '*.py' -delete" in reply.command
    listed = answer(goal_item("list the files here", folder), ran("ls ."), goal_item("delete them", folder))
    assert isinstance(listed, Chat)  # what `ls` shows is not what a search finds


def test_without_a_result_it_is_a_goal_of_its_own(folder: str) -> None:
    for items in ((), (goal_item(FOUND, folder),), (goal_item(FOUND, folder), ran("find x", exit_code=2, stderr="no"))):
        assert isinstance(answer(*items, goal_item("only the ones in src", folder)), Chat)


def test_which_goals_are_about_a_result() -> None:
    assert all(
        map(
            is_follow_up,
            ("only the ones in src", "and now sort them by size", "without node_modules", "the same in src"),
        )
    )
    assert not any(map(is_follow_up, ("find only files", "list the users", "show them to me and " + "x" * 80, "only")))


def test_what_does_something_to_files() -> None:
    changing = (
        "find . -exec sed -i s/a/b/ {} +",
        "find . -delete",
        "grep -l x * | xargs rm",
        "ls > a",
        "sed -i s/a/b/ f",
        "rm x",
    )
    assert all(map(changes_files, changing))
    assert not any(map(changes_files, ("find . -name x 2>/dev/null", "grep -i x f", "ls | wc -l", "sed -n 1p f 2>&1")))


def test_words_are_quoted_as_they_were_typed(folder: str) -> None:
    said = message_for("zorble the frobnitz in one line each", folder)
    assert "oneline" not in said
