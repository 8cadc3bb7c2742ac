"""A listing while logs are not read to their end: rows from both ends of a log, what was done is kept, and the order is that of `last`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.queries import listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.listing import END_BYTES, outline
from agent.recording.index.access import LogIndex
from agent.recording.past import choose_session
from agent.recording.reader import SessionFile, list_sessions
from benchmarks.audit_logs import write_sessions
from tests.support.session_folder import SessionFolder

ALL = Conditions()
SUMS = (
    "goals",
    "failed",
    "stopped",
    "risk",
    "duration",
    "cost",
    "commands",
    "tokens",
    "edited",
    "bad_lines",
    "name",
    "partial",
)


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


def listed(
    index: LogIndex, folder: SessionFolder, seconds: float | None = None, limit: int = 0
) -> list[dict[str, object]]:
    return index.ask(lambda database: listing.sessions(database, str(folder.path), ALL, limit), seconds=seconds)


@pytest.mark.usefixtures("small_pieces")
def test_an_early_answer_has_every_session_and_marks_what_it_has_not_read(
    index: LogIndex, folder: SessionFolder
) -> None:
    early = listed(index, folder, seconds=0.0)
    whole = listed(index, folder)
    assert [row["session"] for row in early] == [row["session"] for row in whole] and len(whole) == 4
    assert all(row["partial"] for row in early) and not any("partial" in row for row in whole)
    for row, truth in zip(early, whole, strict=True):
        assert {key: row[key] for key in truth if key not in SUMS} == {
            key: truth[key] for key in truth if key not in SUMS
        }
    counted = [row["goals"] for row in early]
    assert counted.count(None) == 3 and sum(count is not None and 0 < count < 30 for count in counted) == 1  # type: ignore[operator]


@pytest.mark.usefixtures("small_pieces")
def test_each_call_goes_on_where_the_one_before_ended(index: LogIndex, folder: SessionFolder) -> None:
    rounds, left = 0, 4
    while left:
        rounds += 1
        assert rounds < 200
        left = sum("partial" in row for row in listed(index, folder, seconds=0.0))
        index.close()  # as between two calls of the program
    at_once = LogIndex(str(folder.path), "")
    with at_once:
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


@pytest.mark.usefixtures("small_pieces")
def test_an_index_that_is_not_kept_makes_nobody_wait_either(folder: SessionFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder.path.joinpath(".index.sqlite3").mkdir()
    for seconds, partial in ((0.0, 4), (None, 0)):
        with LogIndex(str(folder.path), str(tmp_path / "file")) as index:
            rows = listed(index, folder, seconds=seconds)
            assert index.place == "" and (len(rows), sum("partial" in row for row in rows)) == (4, partial)


def test_without_room_the_index_stays_and_what_it_lacks_is_told_from_the_logs_ends(
    index: LogIndex, folder: SessionFolder
) -> None:
    before = listed(index, folder)
    write_sessions(str(folder.path), goals=60, seed=12, goals_per_session=30)
    connection = index._open(None).connection
    kept = os.stat(index.place).st_ino
    connection.execute("PRAGMA max_page_count = 1")  # as with a full disk: not a page more than there are
    early = listed(index, folder, seconds=1.0)
    assert len(early) == 6 and sum("partial" in row for row in early) == 2
    assert [note for note in index.notes if "cannot be written" in note]
    assert os.stat(index.place).st_ino == kept
    whole = listed(index, folder)  # who wants all gets all, from memory
    assert len(whole) == 6 and not any("partial" in row for row in whole) and index.place == ""
    index.close()
    listed(index, folder)
    assert os.stat(index.place).st_ino == kept
    assert [row["session"] for row in whole if row not in before] == [
        row["session"] for row in early if "partial" in row
    ]


def test_a_damaged_index_makes_nobody_wait(index: LogIndex, folder: SessionFolder, small_pieces: None) -> None:
    listed(index, folder)
    index._open(None).connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    place = Path(index.place)
    index.close()
    content = bytearray(place.read_bytes())
    content[3 * 4096 :] = os.urandom(len(content) - 3 * 4096)
    place.write_bytes(content)
    folder.path.joinpath(os.listdir(folder.path)[0]).touch()
    assert any("partial" in row for row in listed(index, folder, seconds=0.0))


def test_what_is_shown_first_is_read_first_but_for_what_is_long(
    index: LogIndex, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.recording.index.update.PIECE_SECONDS", -1.0)  # one session a piece
    newest = sorted(list_sessions(str(folder.path)), key=lambda session: session.by_writing, reverse=True)
    os.truncate(newest[0].path, newest[0].size + (16 << 20))
    os.utime(newest[0].path, (newest[0].modified, newest[0].modified))
    rows = listed(index, folder, seconds=0.0)
    assert [row["session"] for row in rows if "partial" not in row] == [newest[1].session_id]


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


def test_people_see_marks_and_how_to_wait(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], small_pieces: None
) -> None:
    monkeypatch.setattr("agent.audit.queries.service._QUICK_SECONDS", 0.0)
    assert folder.run("list") == 0
    shown = capfd.readouterr()
    assert shown.out.count("?") >= 12 and "4 sessions not read to the end yet" in shown.err
    for complete in (["--limit", "0"], ["--goals"], ["--status", "failed"], ["--cwd", "/"], ["--rebuild"]):
        assert folder.run("list", *complete) == 0
        assert "not read to the end" not in capfd.readouterr().err
        Path(folder.path, ".index.sqlite3").unlink()
    assert folder.run("list", json=True) == 0
    assert '"partial"' not in capfd.readouterr().out


def test_both_ends_of_a_long_log_tell_how_it_went(folder: SessionFolder) -> None:
    session = list_sessions(str(folder.path))[0]
    path = Path(session.path)
    lines = path.read_bytes().splitlines(keepends=True)
    started = next(place for place, line in enumerate(lines) if b'"goal.started"' in line)
    output = next(line for line in lines if b'"command.output"' in line)
    closing = [line for line in lines if b'"goal.finished"' in line][-1:]
    middle = output * (3 * END_BYTES // len(output))
    path.write_bytes(b"".join([*lines[: started + 1], middle, *closing, b'{"torn'.ljust(50)]))
    found = outline(list_sessions(str(folder.path))[0])
    assert found is not None and found.goal and found.status and not found.finished
    path.write_bytes(b"".join([*lines[: started + 1], middle]))
    found = outline(list_sessions(str(folder.path))[0])
    assert found is not None and (found.status, found.finished) == ("", False)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\xff" * 300_000, b"{}\n" * 10, b"[" * 200_000 + b"\n", b'{"type":"goal.finished","status":7}\n'],
)
def test_no_log_is_too_strange_for_an_outline(folder: SessionFolder, content: bytes) -> None:
    session = list_sessions(str(folder.path))[0]
    Path(session.path).write_bytes(content)
    found = outline(session)
    assert found is not None and found.goal == "" and found.ended >= found.began >= 0
    Path(session.path).unlink()
    assert outline(session) is None
    Path(session.path).symlink_to("/dev/zero")
    assert outline(session) is None


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
    for seconds in (0.0, None):
        assert [row["session"] for row in listed(index, folder, seconds)] == expected[::-1]
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
