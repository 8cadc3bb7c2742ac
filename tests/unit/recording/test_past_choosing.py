"""Which session a person means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.protocol.errors import InvalidRequest, NotFound
from agent.recording.past import choose_session

NAMES = ("221403-k3f9mw", "221405-abcdef", "job-10", "job-100", "weekly.report")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for age, name in enumerate(NAMES):
        path = tmp_path / f"2030-01-01-{name}.jsonl"
        path.write_text('{"v":1,"type":"goal.started","goal":"x"}\n')
        os.utime(path, (1000 + age, 1000 + age))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("wanted", "attended", "found"),
    [
        ("job-10", True, "job-10"),  # the whole id, though another one begins with it
        ("221403", False, "221403-k3f9mw"),
        ("221403-k3", False, "221403-k3f9mw"),
        ("week", True, "weekly.report"),
        ("last", False, "weekly.report"),
        ("-1", True, "weekly.report"),
    ],
)
def test_an_existing_session(folder: str, wanted: str, attended: bool, found: str) -> None:
    choice = choose_session(folder, wanted, attended=attended)
    assert (choice.session_id, choice.found is not None) == (found, True)
    assert choice.guessed == (wanted != found)


@pytest.mark.parametrize(
    ("wanted", "attended"),
    [("job-1", False), ("job", False), ("we", True), ("22", False), ("new", True), ("Weekly", True), ("2214x", False)],
)
def test_a_new_session(folder: str, wanted: str, attended: bool) -> None:
    """A script's job-1 is not job-10; two letters are not the beginning of anything."""
    choice = choose_session(folder, wanted, attended=attended)
    assert (choice.session_id, choice.found) == (wanted, None)


@pytest.mark.parametrize(
    "content", ["", '{"v":1,"type":"session.started"}\n', '{"data":"\\"type\\":\\"goal.started\\""}\n']
)
def test_one_in_which_nothing_was_asked_for_is_never_the_last_one(folder: str, content: str) -> None:
    path = os.path.join(folder, "2030-01-02-234500-zzzzzz.jsonl")
    with open(path, "w") as file:
        file.write(content)
    assert choose_session(folder, "last", attended=True).session_id == "weekly.report"
    assert choose_session(folder, "234500-zzzzzz", attended=True).found is not None, "by its name it can be had"


def test_the_open_session_is_not_the_last_one(folder: str) -> None:
    assert choose_session(folder, "last", attended=True, besides="weekly.report").session_id == "job-100"


@pytest.mark.parametrize(
    ("wanted", "error"), [("221", InvalidRequest), ("job-", InvalidRequest), ("../x", InvalidRequest)]
)
def test_what_is_not_clear_is_asked_back(folder: str, wanted: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        choose_session(folder, wanted, attended=True)


def test_no_last_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        choose_session(str(tmp_path / "none"), "last", attended=True)
