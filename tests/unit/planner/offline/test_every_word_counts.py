"""Every content word of a goal stands for something in its command, or is listed as not used, or there is a pick list."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.replies import Command, Reply
from tests.unit.planner.offline.offline_support import answer, goal_item

_SUBJECTS = (
    "lines in app.log", "words in notes.txt", "files in src", "visitors in access.log", "cities in people.csv",
    "processes", "python files", "folders", "requests in access.log", "errors in app.log", "photos", "people in people.csv",
)  # fmt: skip
_WHICH = (
    "top", "busiest", "newest", "oldest", "largest", "smallest", "unique", "common", "frequent", "popular", "last", "first",
    "hidden", "empty", "recent", "latest", "random", "longest", "duplicate", "new", "old", "current", "broken", "important",
    "weekly", "modified", "failed", "slowest", "expensive", "best", "average", "missing", "simple", "blorped",
)  # fmt: skip
_HOW = ("today", "twice", "alphabetically", "backwards", "separately", "randomly", "daily", "blorpedly")
# What says nothing there: every process runs, and what is counted has no order.
_SAYS_NOTHING = {("current", "processes"), *((word, "count the") for word in ("alphabetically", "backwards"))}
_ACCESS = '1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /{} HTTP/1.0" 200 2326\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("here")
    (path / "src").mkdir()
    (path / "access.log").write_text("".join(_ACCESS.format(page) for page in "aab"))
    (path / "app.log").write_text("2024-05-17 10:00:01 ERROR disk full\n2024-05-16 10:00:02 WARNING low memory\n")
    (path / "people.csv").write_text("name,age,city\nAnn,30,Rome\nBob,40,Oslo\nEve,40,Rome\n")
    (path / "notes.txt").write_text("hello world\n")
    return str(path)


def _dropped(before: Reply, said: str, word: str, cwd: str) -> bool:
    """Tell whether a goal with a word more is answered as if nobody had said it."""
    after = answer(goal_item(said, cwd))
    if not isinstance(before, Command) or not isinstance(after, Command):
        return False
    return after.command == before.command and word not in after.unused


@pytest.mark.parametrize("verb", ["show the", "count the", "find the"])
@pytest.mark.parametrize("subject", _SUBJECTS)
@pytest.mark.few(1)
def test_no_word_is_dropped_in_silence(subject: str, verb: str, folder: str) -> None:
    plain = f"{verb} {subject}"
    goals = [(word, f"{verb} {word} {subject}") for word in _WHICH] + [(word, f"{plain} {word}") for word in _HOW]
    says_something = [(word, said) for word, said in goals if not {(word, subject), (word, verb)} & _SAYS_NOTHING]
    before = answer(goal_item(plain, folder))
    assert [said for word, said in says_something if _dropped(before, said, word, folder)] == []


@pytest.mark.parametrize(
    ("goal", "counted"),
    [
        ("top ip addresses in access.log", "awk '{print $1}' access.log | sort | uniq -c | sort -rn | head -n 10"),
        ("top 10 urls in access.log", "awk '{print $7}' access.log | sort | uniq -c | sort -rn | head -n 10"),
        ("show the top 5 status codes in access.log", "awk '{print $9}' access.log | sort | uniq -c | sort -rn | head -n 5"),
        ("top 2 cities in people.csv", "tail -n +2 people.csv | cut -d, -f3 | sort | uniq -c | sort -rn | head -n 2"),
        ("top words in notes.txt", "tr -s '[:space:]' '\\n' < notes.txt | sort | uniq -c | sort -rn | head -n 10"),
        ("top 5 errors in app.log", "grep ERROR app.log | sort | uniq -c | sort -rn | head -n 5"),
        ("most common lines of app.log", "sort app.log | uniq -c | sort -rn"),
    ],
)  # fmt: skip
def test_the_top_of_values_are_those_that_come_most_often(goal: str, counted: str, folder: str) -> None:
    reply = answer(goal_item(goal, folder))
    assert isinstance(reply, Command) and reply.command == counted


def test_top_three_visitors_are_counted(folder: str) -> None:
    reply = answer(goal_item("top 3 visitors in access.log", folder))
    assert isinstance(reply, Command) and reply.command.endswith("| sort | uniq -c | sort -rn | head -n 3")


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("top 2 ages in people.csv", "cut -d, -f2 people.csv | sort -rn | head -n 2"),
        ("top 3 lines of notes.txt", "head -n 3 notes.txt"),
        ("top 2 rows of people.csv", "head -n 2 people.csv"),
    ],
)
def test_the_top_of_numbers_are_the_largest_and_of_lines_the_first(goal: str, command: str, folder: str) -> None:
    reply = answer(goal_item(goal, folder))
    assert isinstance(reply, Command) and reply.command == command


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("what went wrong in app.log", 'grep -inE "error|fail|fatal|critical|exception|panic" app.log'),
        ("any problems in app.log", 'grep -inE "error|fail|fatal|critical|exception|panic" app.log'),
        ("any errors in app.log", "grep ERROR app.log"),
        ("show me the warnings of today in app.log", "grep WARNING app.log | grep 2024-05-17"),
        ("todays requests in access.log", "grep 17/May/2024 access.log"),
        ("count the errors from yesterday in app.log", "grep ERROR app.log | grep -c 2024-05-16"),
    ],
)
def test_questions_about_a_log_are_asked_of_the_log(goal: str, command: str, folder: str) -> None:
    reply = answer(goal_item(goal, folder))
    assert isinstance(reply, Command) and reply.command == command
