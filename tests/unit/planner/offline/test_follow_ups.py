"""A goal about the result of the one before it: as a remark before it ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from agent.planner.offline.referring import changes_files, is_follow_up
from agent.protocol.messages import HistoryItem
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


@each("text", ["only the python ones", "just the big ones", "sort them", "the first 3"])
def test_with_no_result_there_is_nothing_to_narrow(text: str, tmp_path: Path) -> None:
    reply = answer(goal_item(text, str(tmp_path)))
    assert isinstance(reply, Chat)
    assert "no result yet" in reply.message
    assert not reply.choices


def _chain(cwd: str, *goals: str, cancelled: tuple[str, ...] = ()) -> list[str]:
    """The commands of goals that follow each other, each of which is run; "" where there is none."""
    history: list[HistoryItem] = []
    commands = []
    for goal in goals:
        history.append(goal_item(goal, cwd))
        reply = answer(*history)
        commands.append(reply.command if isinstance(reply, Command) else "")
        if commands[-1]:
            outcome = ran(commands[-1], stdout="x\n")
            history.append(structs.replace(outcome, outcome="cancelled") if goal in cancelled else outcome)
    return commands


BY_SIZE = "-printf '%s %p\\n' | sort -n | cut -d' ' -f2-"


@each(
    ("goals", "last"),
    [
        (("only the ones in src", "sort them by size"), f"find src -type f -name '*.py' {BY_SIZE}"),
        (("only the ones in src", "sort them by size", "the first 3"), f"find src -type f -name '*.py' {BY_SIZE} | head -n 3"),
        (("only the ones in src", "count them"), "find src -type f -name '*.py' | wc -l"),
        (("sort them by size", "count them"), "find . -type f -name '*.py' | wc -l"),
        (("only the ones in src", "delete them"), "find src -type f -name '*.py' -delete"),
        (("only the ones in src", "copy them to backup/"),
            "find src -type f -name '*.py' -not -path '*/backup/*' -exec cp -t backup/ {} +"),
        (
            ("only those from today", "only the ones in src", "delete them"),
            "find src -type f -name '*.py' -newermt 2024-05-17 -not -newermt 2024-05-18 -delete",
        ),
        (("sort them by size", "the first 3", "delete them"), ""),  # all would be deleted
    ],
)  # fmt: skip
def test_a_follow_up_goes_on_with_all_that_was_said_before(goals: tuple[str, ...], last: str, folder: str) -> None:
    assert _chain(folder, FOUND, *goals)[-1] == last


def test_what_was_cancelled_is_passed_over(folder: str) -> None:
    last = _chain(folder, FOUND, "only the ones in src", "sort them by size", cancelled=("only the ones in src",))[-1]
    assert last == f"find . -type f -name '*.py' {BY_SIZE}"


def test_behind_a_goal_that_was_cancelled_there_is_nothing_to_go_on_with(folder: str) -> None:
    (Path(folder) / "hello.txt").write_text("hello\n")
    other = "count the words in hello.txt"
    assert _chain(folder, other, FOUND, "sort them by name", cancelled=(FOUND,))[-1] == ""


def test_lines_are_narrowed_down_too(folder: str) -> None:
    (Path(folder) / "app.log").write_text("2024-05-17 10:00:01 ERROR disk full\n")
    found = _chain(folder, "show the errors in app.log", "only those from today", "count them")
    assert found == [
        "grep ERROR app.log",
        "grep ERROR app.log | grep 2024-05-17",
        "grep ERROR app.log | grep -c 2024-05-17",
    ]


def test_a_list_is_sorted_where_it_is(folder: str) -> None:
    listed, by_size = _chain(folder, "list the files in src", "sort them by size")
    assert listed == "ls src" and by_size.startswith("ls ") and by_size.split()[-1].strip("./") == "src"


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
