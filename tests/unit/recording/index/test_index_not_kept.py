"""Where no index can be kept, each question reads only what it needs, and the answer is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.audit.queries import figures, listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import search
from agent.policy.linear_regex import LinearPattern
from agent.recording.index import update
from agent.recording.index.access import LogIndex, Purpose
from agent.recording.index.database import Database
from agent.recording.index.gather import Gatherer
from agent.recording.index.values import Session
from agent.recording.line import microseconds, read_line
from agent.recording.reader import list_sessions
from benchmarks.audit_logs import write_sessions
from tests.support.session_folder import SessionFolder
from tests.support.tries import ALL, sampled

Asked = tuple[Callable[[Database], Any], Purpose]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Logs of this program, one of another writer, one with lines that are none, one in two files."""
    made = tmp_path_factory.mktemp("world") / "logs"
    write_sessions(str(made), goals=300 if ALL else 180, seed=5, goals_per_session=12, crashes=0.4)
    sessions = list_sessions(str(made))
    foreign = Path(sessions[3].path)
    lines = [json.loads(line) for line in foreign.read_bytes().splitlines()]
    foreign.write_text("".join(json.dumps({key: line[key] for key in reversed(line)}) + "\n" for line in lines))
    broken = Path(sessions[5].path)
    data = broken.read_bytes().splitlines(keepends=True)
    outputs = [place for place, line in enumerate(data) if b'"type":"command.output"' in line]
    data[outputs[0]] = data[outputs[0]][:-9] + b"\n"
    data.insert(9, b'{"type":"command.output"}\n\xff\n[]\n' + b'{"time":"9999"}\n')
    broken.write_bytes(b"".join(data))
    whole = Path(sessions[7].path)
    data = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join(data[:40]))
    whole.with_name(f"{whole.stem}~2.jsonl").write_bytes(b"".join(data[40:]))
    for place, session in enumerate(list_sessions(str(made))):
        for path in session.files:
            os.utime(path, (1_700_000_000 + place, 1_700_000_000 + place))
    return str(made)


def questions(folder: str, middle: int) -> dict[str, Asked]:
    """Everything that is asked of an index, with what it is asked for."""
    since = Conditions(since=middle)

    def found(words: tuple[str, ...], wanted: Conditions, **more: Any) -> Asked:
        def ask(database: Database) -> Any:
            return search(database, folder, words, wanted, numbered=True, **more)

        return ask, Purpose(since=wanted.since, texts=True, words=words)

    searches = {
        "a word": found(("docker",), Conditions()),
        "words": found(("permission", "denied"), Conditions()),
        "a beginning": found(("p",), Conditions()),
        "accents": found(("hafen",), Conditions()),
        "with accents": found(("häfen",), Conditions()),
        "no blanks": found(("日本",), Conditions()),
        "both kinds": found(("日本", "a"), Conditions()),
        "with signs": found(("ledger.py",), Conditions()),
        "only signs": found(("--",), Conditions()),
        "upper case": found(("DOCKER",), Conditions()),
        "nowhere": found(("nosuchword",), Conditions()),
        "since": found(("e",), since),
        "exit code": found((), Conditions(exit_code="nonzero")),
        "changed": found(("e",), Conditions(edited=True)),
        "pattern": found((), Conditions(), pattern=LinearPattern("err.r", "m")),
        "pattern and word": found(("error",), Conditions(), pattern=LinearPattern("err.r", "m")),
    }
    return {
        "sessions": (lambda database: listing.sessions(database, folder, Conditions()), Purpose()),
        "newest": (lambda database: listing.sessions(database, folder, Conditions(), 5), Purpose(newest=5)),
        "sessions since": (lambda database: listing.sessions(database, folder, since), Purpose(since=middle)),
        "goals": (lambda database: listing.goals(database, folder, Conditions()), Purpose()),
        "failed": (lambda database: listing.goals(database, folder, Conditions(statuses=("failed",))), Purpose()),
        "goals since": (lambda database: listing.goals(database, folder, since, 9), Purpose(since=middle)),
        "stats": (lambda database: figures.figures(database, Conditions()), Purpose()),
        "stats since": (lambda database: figures.figures(database, since), Purpose(since=middle)),
        "history": (figures.past, Purpose()),
        **searches,
    }


def unkept(folder: str, tmp_path: Path) -> LogIndex:
    """An index that has no place."""
    folder_is_shared = os.stat(folder).st_mode | 0o002
    os.chmod(folder, folder_is_shared)
    (tmp_path / "file").touch()
    return LogIndex(folder, str(tmp_path / "file"))


@sampled
def test_every_answer_is_that_of_an_index_that_knows_all(folder: str, tmp_path: Path) -> None:
    with LogIndex(folder, str(tmp_path / "state")) as index:
        began = sorted(
            row["began"] for row in index.ask(lambda database: listing.goals(database, folder, Conditions()))
        )
        asked = questions(folder, began[len(began) * 3 // 4])
        expected = {name: index.ask(question) for name, (question, _) in asked.items()}
        assert index.place
    differing, hits = [], 0
    for name, (question, purpose) in asked.items():
        with unkept(folder, tmp_path) as index:
            answer = index.ask(question, purpose=purpose)
            assert not index.place
            assert len(index.notes) == 1 and "no index of the sessions is kept" in index.notes[0]
        if isinstance(answer, list) and answer and isinstance(answer[0], dict):  # one kind of line is not looked into
            for row in (*answer, *expected[name]):
                row.pop("bad_lines", None)
        hits += len(getattr(answer, "hits", ()))
        if answer != expected[name]:
            differing.append(name)
    assert not differing
    assert hits > 100


def test_only_what_a_question_needs_is_read(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(update, "_read", lambda piece, number, gatherer, state: read.append(state.path) or True)
    sessions = list_sessions(folder)
    since = Conditions(since=int(1_700_000_000 * 1e6))
    for purpose, wanted, expected in (
        (Purpose(), Conditions(), len(sessions) + 1),
        (Purpose(newest=4), Conditions(), 4),
        (Purpose(since=8_000_000_000_000_000), since, 0),
    ):
        read.clear()
        with unkept(folder, tmp_path) as index:
            index.ask(lambda database, w=wanted: listing.sessions(database, folder, w, 4), purpose=purpose)
        assert len(read) == expected, purpose


@pytest.mark.few(1)
@pytest.mark.parametrize("touched", [0, 1_000_000_000, 2_000_000_000])
def test_a_limited_search_reads_on_until_nothing_newer_can_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], touched: int
) -> None:
    """Also where the times of files say nothing: then all is read."""
    made = SessionFolder(tmp_path)
    write_sessions(str(made.path), goals=200, seed=8, goals_per_session=4)
    sessions = list_sessions(str(made.path))
    for session in sessions:
        last = max(read.time for line in Path(session.path).read_bytes().splitlines() if (read := read_line(line)))
        at = touched or (microseconds(last) or 0) / 1e6
        os.utime(session.path, (at, at))
    asked = (
        ["search", "e", "--limit", "4"], ["search", "docker", "--limit", "2"], ["search", "nosuchword"],
        ["search", "--exit", "nonzero", "--limit", "3"], ["list", "--goals", "--limit", "5"],
        ["list", "--goals", "--limit", "3", "--status", "failed"], ["list", "--limit", "3", "--since", "2000-01-01"],
    )  # fmt: skip
    expected = [(made.run(*words), capfd.readouterr().out) for words in asked]
    (made.path / ".index.sqlite3").unlink()
    made.path.chmod(0o777)
    monkeypatch.setattr("agent.frontends.sessions.shared.state_dir", lambda environ: "/dev/null/state")
    monkeypatch.setattr("agent.audit.queries.service._FIRST_READ", 1)
    read: set[str] = set()
    whole = update._read
    monkeypatch.setattr(
        update,
        "_read",
        lambda piece, number, gatherer, state: read.add(state.path) or whole(piece, number, gatherer, state),
    )
    counts = []
    for words, answer in zip(asked, expected, strict=True):
        read.clear()
        assert (made.run(*words), capfd.readouterr().out) == answer, words
        counts.append(len(read))
    if touched == 2_000_000_000:
        assert counts[0] == len(sessions)
    else:
        assert counts[0] < 20 and counts[2] == len(sessions) and counts[4] < 20


def test_old_files_with_late_records_are_read(folder: str, tmp_path: Path) -> None:
    """The time of a file can be set by anybody; what its last records say is looked at, too."""
    with unkept(folder, tmp_path) as index:
        wanted = Conditions(since=1_701_000_000_000_000)  # later than all files, earlier than all records
        rows = index.ask(
            lambda database: listing.sessions(database, folder, wanted), purpose=Purpose(since=wanted.since)
        )
    assert len(rows) == len(list_sessions(folder))


def test_no_text_is_passed_over_that_is_none_of_ours() -> None:
    ours = (
        b'{"v":1,"seq":9,"time":"2026-11-22T07:49:31.552971Z","session":"1-a","run":"r","goal_id":"g","prev":"'
        + b"0" * 64
        + b'","type":"command.output","command_id":"g.1","stream":"stdout","data":"x","offset":0.1}\n'
    )
    gatherer = Gatherer(Session(session="1-a", date="2026-11-22"))
    assert gatherer.pass_over(ours)
    assert gatherer.session.latest == "2026-11-22T07:49:31.552971Z" and gatherer.session.began
    for line in (
        ours[:-1],  # torn
        ours[:-3] + b"\n",
        ours.replace(b"command.output", b"command.finished"),
        ours.replace(b"command.output", b"command.outputs"),
        ours.replace(b'"goal_id":"g"', b'"goal_id":"g\\""'),
        ours.replace(b'"time":"2026', b'"time": "2026'),
        b" " + ours,
    ):
        assert not gatherer.pass_over(line), line
    assert read_line(ours) is not None


def test_people_are_told_once_and_see_whole_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made = SessionFolder(tmp_path)
    write_sessions(str(made.path), goals=60, seed=3, goals_per_session=2)
    made.path.chmod(0o777)
    monkeypatch.setattr("agent.frontends.sessions.shared.state_dir", lambda environ: "/dev/null/state")
    for arguments, status in ((["list"], 0), (["list", "--goals"], 0), (["stats"], 0), (["search", "nosuchword"], 1)):
        assert made.run(*arguments) == status
        told = capfd.readouterr()
        assert told.err.count("no index of the sessions is kept") == 1 and "others can write to" in told.err
        assert "?" not in told.out or arguments != ["list"]
        assert "not read to the end" not in told.err
    assert made.run("list", "--limit", "3", json=True) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(rows) == 3 and all(row["goals"] and "partial" not in row for row in rows)
