"""The index against the logs: the same goals, from new bytes only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.queries import listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import search
from agent.recording.fold import goals
from agent.recording.index.access import LogIndex
from agent.recording.reader import list_sessions, read_records
from benchmarks.audit_logs import write_sessions

ALL = Conditions()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_sessions(str(tmp_path / "s"), goals=60, seed=5, goals_per_session=12, crashes=0.4)
    return tmp_path / "s"


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Iterator[LogIndex]:
    with LogIndex(str(folder), str(tmp_path / "state")) as opened:
        yield opened


def told(index: LogIndex, folder: Path) -> list[tuple[object, ...]]:
    """Every goal as the index has it, oldest first."""
    rows = index.ask(lambda database: listing.goals(database, str(folder), ALL))
    keys = ("session", "goal_id", "goal", "status", "exit_code", "risk", "commands", "edited")
    return [tuple(row[key] for key in keys) for row in reversed(rows)]


def truth(folder: Path) -> list[tuple[object, ...]]:
    """The same out of the logs alone."""
    found = []
    for session in list_sessions(str(folder)):
        records = list(read_records(session))
        began = {record.goal_id: record.time for record in records if record.goal_id}
        first = {}
        for record in records:
            if record.goal_id:
                first.setdefault(record.goal_id, record.time)
        assert len(first) == len(began)
        for goal in goals(records):
            ranks = [("", "low", "medium", "high").index(command.risk) for command in goal.commands]
            found.append(
                (
                    first[goal.goal_id],
                    (
                        session.session_id, goal.goal_id, goal.goal, goal.status.value,
                        goal.exit_code if goal.status != "interrupted" else None,
                        ("", "low", "medium", "high")[max(ranks, default=0)], len(goal.commands),
                        sum(command.edited for command in goal.commands),
                    ),
                )
            )  # fmt: skip
    return [row for _, row in sorted(found)]


def test_it_says_what_the_logs_say(index: LogIndex, folder: Path) -> None:
    assert told(index, folder) == truth(folder)
    assert index.place == str(folder / ".index.sqlite3")
    assert {os.stat(folder / name).st_mode & 0o777 for name in os.listdir(folder) if name.startswith(".")} == {0o600}


def test_sessions_are_sums_of_their_goals(index: LogIndex, folder: Path) -> None:
    rows = index.ask(lambda database: listing.sessions(database, str(folder), ALL))
    assert [row["path"] for row in rows] == [session.path for session in reversed(list_sessions(str(folder)))]
    by_session: dict[object, list[tuple[object, ...]]] = {}
    for goal in truth(folder):
        by_session.setdefault(goal[0], []).append(goal)
    for row in rows:
        own = by_session[row["session"]]
        assert (row["goals"], row["goal"], row["status"]) == (len(own), own[0][2], own[-1][3])
        assert row["commands"] == sum(goal[6] for goal in own)  # type: ignore[misc]
        assert row["bytes"] == os.path.getsize(row["path"])


def test_a_log_is_read_on_at_any_byte(index: LogIndex, folder: Path) -> None:
    """Cut into pieces, whatever the places, it gives the same in the end; no goal is there twice."""
    expected = truth(folder)
    path = Path(list_sessions(str(folder))[0].path)
    whole = path.read_bytes()
    path.write_bytes(b"")
    for end in [*range(0, len(whole), 1777), len(whole)]:
        with open(path, "r+b") as file:
            file.truncate(0) if end == 0 else None
            file.seek(0, os.SEEK_END)
            file.write(whole[file.tell() : end])
        rows = told(index, folder)
        assert len({row[1] for row in rows}) == len(rows)
    assert told(index, folder) == expected


def test_only_new_bytes_are_read(index: LogIndex, folder: Path) -> None:
    """What was read before is not looked at again: a change in the middle of it goes unnoticed when the log has grown."""
    told(index, folder)
    path = Path(max((session for session in list_sessions(str(folder))), key=lambda session: session.size).path)
    data = bytearray(path.read_bytes())
    place = data.index(b'"type":"goal.started","goal":"', 6000) + 30
    data[place : place + 3] = b"XYZ"
    path.write_bytes(bytes(data))  # the same inode
    os.utime(path)
    with open(path, "ab") as file:
        file.write(b'{"type":"notice","text":"more"}\n')
    assert not [row for row in told(index, folder) if "XYZ" in str(row[2])]
    found = index.ask(lambda database: listing.goals(database, str(folder), ALL), rebuild=True)
    assert [row for row in found if "XYZ" in row["goal"]]


@pytest.mark.parametrize("how", ["shrunk", "replaced", "same size", "other beginning"])
def test_a_log_that_is_another_one_is_read_anew(index: LogIndex, folder: Path, how: str) -> None:
    told(index, folder)
    path = Path(list_sessions(str(folder))[1].path)
    lines = path.read_bytes().splitlines(keepends=True)
    if how == "shrunk":
        path.write_bytes(b"".join(lines[: len(lines) // 2]))
    elif how == "replaced":
        (folder / "new").write_bytes(b"".join(lines).replace(b"tests", b"TESTS"))
        os.replace(folder / "new", path)
    elif how == "same size":
        path.write_bytes(b"".join(lines).replace(b'"goal":"', b'"goal":"@')[: len(b"".join(lines))])
        os.utime(path, (1, 1))
    else:
        path.write_bytes(lines[0].replace(b"agent-shell 0.1.0", b"agent-shell 9.9.9") + b"".join(lines[1:]) + b"{}\n")
    assert told(index, folder) == truth(folder)


def test_a_log_that_is_gone_is_gone(index: LogIndex, folder: Path) -> None:
    told(index, folder)
    os.unlink(list_sessions(str(folder))[2].path)
    assert told(index, folder) == truth(folder)


def test_a_session_in_several_files_is_one(index: LogIndex, folder: Path) -> None:
    """A goal may begin in one file and end in the next."""
    path = Path(list_sessions(str(folder))[0].path)
    lines = path.read_bytes().splitlines(keepends=True)
    expected = truth(folder)
    cuts = (len(lines) // 3, 2 * len(lines) // 3)
    path.write_bytes(b"".join(lines[: cuts[0]]))
    told(index, folder)
    path.with_name(path.stem + "~2.jsonl").write_bytes(b"".join(lines[cuts[0] : cuts[1]]))
    told(index, folder)
    path.with_name(path.stem + "~3.jsonl").write_bytes(b"".join(lines[cuts[1] :]))
    assert told(index, folder) == expected
    rows = index.ask(lambda database: listing.sessions(database, str(folder), ALL))
    assert len(rows) == len(list_sessions(str(folder)))
    assert [row["bytes"] for row in rows if row["path"] == str(path)] == [sum(map(len, lines))]


def test_a_goal_without_an_end_is_running_only_while_its_log_is_locked(tmp_path: Path) -> None:
    import fcntl

    folder = tmp_path / "s"
    write_sessions(str(folder), goals=1, seed=1, crashes=1.0)
    (path,) = folder.iterdir()
    with LogIndex(str(folder), "") as index, open(path, "ab") as log:
        assert [row[3] for row in told(index, folder)] == ["interrupted"]
        fcntl.flock(log, fcntl.LOCK_EX)
        assert [row[3] for row in told(index, folder)] == ["running"]
        for status, expected in (("running", 1), ("interrupted", 0), ("completed", 0)):
            wanted = Conditions(statuses=(status,))
            assert len(index.ask(lambda d, w=wanted: listing.sessions(d, str(folder), w))) == expected  # type: ignore[misc]
            assert len(index.ask(lambda d, w=wanted: search(d, str(folder), (), w)).hits) == expected  # type: ignore[misc]


def test_the_newest_are_there_first(index: LogIndex, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.recording.index.update.NEWEST_FIRST", 2)
    monkeypatch.setattr("agent.recording.index.update.PIECE_SECONDS", -1.0)  # one session a piece
    pieces = iter([False, False, True])
    index.ask(lambda database: None, stop=lambda: next(pieces))
    names = [session.session_id for session in list_sessions(str(folder))]
    rows = index.ask(lambda database: listing.sessions(database, str(folder), ALL), fresh=False)
    assert {row["session"] for row in rows} == set(names[-2:])
    assert told(index, folder) == truth(folder)
