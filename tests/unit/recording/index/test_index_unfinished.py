"""Logs are read in pieces: what was done is kept, and the order of a listing is that of `last`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.queries import listing
from agent.audit.queries.conditions import Conditions
from agent.recording.index.access import LogIndex
from agent.recording.past import choose_session
from agent.recording.reader import SessionFile, list_sessions
from benchmarks.audit_logs import write_sessions
from tests.support.session_folder import SessionFolder

ALL = Conditions()


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(tmp_path)
    write_sessions(str(made.path), goals=120, seed=11, goals_per_session=30, crashes=0.5)
    return made


@pytest.fixture
def index(folder: SessionFolder, tmp_path: Path) -> Iterator[LogIndex]:
    with LogIndex(str(folder.path), str(tmp_path / "state")) as opened:
        yield opened


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every piece of work ends after a few lines, as if they had taken a second."""
    monkeypatch.setattr("agent.recording.index.update._LINES_AT_A_TIME", 40)
    monkeypatch.setattr("agent.recording.index.update.PIECE_SECONDS", -1.0)


def listed(index: LogIndex, folder: SessionFolder, seconds: float | None = None) -> list[dict[str, object]]:
    return index.ask(lambda database: listing.sessions(database, str(folder.path), ALL), seconds=seconds)


@pytest.mark.usefixtures("small_pieces")
def test_each_call_goes_on_where_the_one_before_ended(index: LogIndex, folder: SessionFolder) -> None:
    rounds, whole = 0, False
    while not whole:
        rounds += 1
        assert rounds < 200
        whole = index.ask(lambda database: database.whole, seconds=0.0)
        index.close()  # as between two calls of the program
    with LogIndex(str(folder.path), "") as at_once:
        assert listed(index, folder) == listed(at_once, folder)
    assert rounds > 8


@pytest.mark.usefixtures("small_pieces")
def test_progress_counts_bytes_that_were_read(folder: SessionFolder) -> None:
    told: list[tuple[int, int]] = []
    with LogIndex(str(folder.path), "", told=lambda done, of: told.append((done, of))) as index:
        listed(index, folder)
    total = sum(session.size for session in list_sessions(str(folder.path)))
    assert told[0] == (0, total) and all(of == total for _, of in told)
    done = [each for each, _ in told]
    assert done == sorted(done) and len(set(done)) > 8 and done[-1] < total


def test_without_room_the_index_stays_as_it_is(index: LogIndex, folder: SessionFolder) -> None:
    before = listed(index, folder)
    write_sessions(str(folder.path), goals=60, seed=12, goals_per_session=30)
    connection = index._open().connection
    kept = os.stat(index.place).st_ino
    connection.execute("PRAGMA max_page_count = 1")  # as with a full disk: not a page more than there are
    assert listed(index, folder, seconds=1.0) == before
    assert [note for note in index.notes if "cannot be written" in note]
    assert os.stat(index.place).st_ino == kept
    whole = listed(index, folder)  # who wants all gets all, from memory
    assert len(whole) == 6 and index.place == ""
    index.close()
    assert listed(index, folder) == whole
    assert os.stat(index.place).st_ino == kept


def test_what_is_shown_first_is_read_first_but_for_what_is_long(
    index: LogIndex, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.recording.index.update.PIECE_SECONDS", -1.0)  # one session a piece
    newest = sorted(list_sessions(str(folder.path)), key=lambda session: session.by_writing, reverse=True)
    os.truncate(newest[0].path, newest[0].size + (16 << 20))
    os.utime(newest[0].path, (newest[0].modified, newest[0].modified))
    rows = listed(index, folder, seconds=0.0)
    assert [row["session"] for row in rows] == [newest[1].session_id]


def test_a_log_that_goes_while_it_is_looked_for_leaves_no_row(
    index: LogIndex, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed_then_gone(where: str) -> list[SessionFile]:
        found = list_sessions(where)
        os.unlink(found[1].path)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("agent.recording.index.update.list_sessions", listed_then_gone)
        assert len(listed(index, folder)) == 3
    assert listed(index, folder) == listed(LogIndex(str(folder.path), ""), folder)


def test_list_goes_by_what_last_goes_by(index: LogIndex, folder: SessionFolder) -> None:
    """Whatever the order in which logs were begun and written, also where two were written at the same time."""
    sessions = list_sessions(str(folder.path))
    for session, at in zip(
        sessions, (1_700_000_000.123456789, 1_700_000_900.5, 1_700_000_000.123456789, 3.0), strict=True
    ):
        os.utime(session.path, ns=(int(at * 1e9), int(at * 1e9)))
    expected = [
        session.session_id for session in sorted(list_sessions(str(folder.path)), key=lambda each: each.by_writing)
    ]
    assert expected[-1] == sessions[1].session_id and expected[0] == sessions[3].session_id
    assert [row["session"] for row in listed(index, folder)] == expected[::-1]
    assert choose_session(str(folder.path), "last", attended=True).session_id == expected[-1]
    from agent.frontends.session_naming import find_session

    for back in range(1, 5):
        assert find_session(folder.services(), f"-{back}").session_id == expected[-back]


def test_files_of_a_session_are_looked_up(index: LogIndex, folder: SessionFolder) -> None:
    """Going through all of them for each session would cost the square of their number."""

    def plans(database: object) -> list[str]:
        run = database.connection.execute  # type: ignore[attr-defined]
        asked = ("SELECT * FROM files WHERE session = 1 ORDER BY part", "DELETE FROM files WHERE session = 1")
        listing_ = "SELECT path FROM sessions ORDER BY written DESC, date DESC, session DESC"
        return [row[3] for query in (*asked, listing_) for row in run(f"EXPLAIN QUERY PLAN {query}")]

    found = index.ask(plans)
    assert ["USING" in plan and "INDEX" in plan for plan in found] == [True] * 3, found
