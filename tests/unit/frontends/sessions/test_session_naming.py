"""Which session a person means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec import structs

from agent.frontends.session_naming import find_session, is_outside
from agent.protocol.errors import InvalidRequest, IoError, NotFound
from agent.protocol.records import encode
from tests.support.pictured_session import pictured
from tests.support.session_folder import SessionFolder


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(tmp_path)
    for name, date, modified in (
        ("0726-abc", "2026-03-01", 300),
        ("0726-abd", "2026-03-02", 100),
        ("one", "2026-03-03", 200),
    ):
        made.put(pictured()[:20], name, date=date, modified=modified)
    made.put(pictured()[:1], "empty", date="2026-03-04", modified=400)  # nothing was asked for in it: it is not counted
    return made


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("one", "one"), ("o", "one"), ("0726-abd", "0726-abd"), ("0726-abc", "0726-abc"), ("2026-03-02", "0726-abd"),
        ("2026-03-03-one", "one"), ("last", "0726-abc"), ("-1", "0726-abc"), ("-2", "one"), ("-3", "0726-abd"), (None, "0726-abc"),
        ("2026-03-03-one.jsonl", "one"),
    ],
)  # fmt: skip
def test_names(folder: SessionFolder, wanted: str | None, found: str) -> None:
    session = find_session(folder.services(), wanted)
    assert session.session_id == found
    assert not is_outside(folder.services(), session)


def test_a_path_in_the_folder_is_that_session_with_all_its_files(folder: SessionFolder) -> None:
    first = folder.path / "2026-03-03-one.jsonl"
    second = folder.path / "2026-03-03-one~2.jsonl"
    second.write_bytes(b"")
    for path in (first, second):
        assert find_session(folder.services(), str(path)).paths == (str(first), str(second))


def test_a_log_from_elsewhere_is_marked(folder: SessionFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "evidence.jsonl"
    elsewhere.write_bytes(b"{}\n")
    session = find_session(folder.services(), str(elsewhere))
    assert (session.session_id, session.paths, session.size) == ("evidence", (str(elsewhere),), 3)
    assert is_outside(folder.services(), session)


def test_a_log_under_another_name_is_still_its_session(folder: SessionFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "evidence.jsonl"
    elsewhere.write_bytes(folder.put(pictured()[:2], "p").read_bytes())
    assert find_session(folder.services(), str(elsewhere)).session_id == pictured()[0].session
    elsewhere.write_bytes(encode(structs.replace(pictured()[0], session="../../etc/passwd")))
    assert find_session(folder.services(), str(elsewhere)).session_id == "evidence"


def test_several_that_fit_are_listed(folder: SessionFolder) -> None:
    with pytest.raises(InvalidRequest, match="2 sessions begin with 0726") as told:
        find_session(folder.services(), "0726")
    assert "0726-abd, 0726-abc" in told.value.hint


def test_one_id_of_two_days_is_told_apart_by_the_day(folder: SessionFolder) -> None:
    folder.put(pictured()[:1], "one", date="2026-04-01")
    with pytest.raises(InvalidRequest, match="more than one session") as told:
        find_session(folder.services(), "one")
    assert "2026-04-01-one, 2026-03-03-one" in told.value.hint
    assert find_session(folder.services(), "2026-04-01-one").date == "2026-04-01"


@pytest.mark.parametrize("wanted", ["nothing", "-9", "-0", "", "\x1b[31m", "-99999999999999999999"])
def test_what_is_not_there(folder: SessionFolder, wanted: str) -> None:
    with pytest.raises(NotFound) as told:
        find_session(folder.services(), wanted)
    assert "\x1b" not in told.value.terminal_message()


@pytest.mark.parametrize("wanted", ["./nothing.jsonl", "/nowhere/at/all", "/dev/null", "/tmp/", "/a\0b"])
def test_paths_that_are_no_logs(folder: SessionFolder, wanted: str) -> None:
    with pytest.raises(IoError):
        find_session(folder.services(), wanted)


def test_an_empty_folder(tmp_path: Path) -> None:
    made = SessionFolder(tmp_path)
    with pytest.raises(InvalidRequest, match=f"nothing is recorded in {made.path} yet"):
        find_session(made.services(), None)
    with pytest.raises(NotFound, match="last") as told:
        find_session(made.services(), "last")
    assert f"there are no logs in {made.path}" in told.value.hint


def test_a_pipe_does_not_hang(folder: SessionFolder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(IoError, match="not a regular file"):
        find_session(folder.services(), str(tmp_path / "x.jsonl"))
