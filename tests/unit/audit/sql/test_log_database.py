"""The views over logs: what they say of honest logs, of hostile ones, and what a query cannot do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="the extra `audit` is not installed")

from agent.audit.sql import reading as filling
from agent.audit.sql import staging
from agent.audit.sql.database import LogDatabase
from agent.audit.sql.sources import Source, find_sources
from agent.audit.sql.views import line_columns, views
from agent.protocol.errors import ConfigError, CoreError, InvalidRequest, NotFound
from tests.support.audit_world import write_world

LINE = {
    "v": 1,
    "seq": 1,
    "time": "2026-03-04T10:00:00Z",
    "session": "h",
    "run": "",
    "goal_id": "g",
    "command_id": "g.1",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def database(folders: list[Path]) -> Iterator[LogDatabase]:
    with LogDatabase(find_sources([str(folders[0].parents[1])], default="", here="here")) as opened:
        yield opened


def ask(database: LogDatabase, query: str) -> list[tuple[object, ...]]:
    return list(database.ask(query).rows())


def of_lines(folder: Path, *lines: str | bytes, name: str = "2026-03-04-h.jsonl") -> LogDatabase:
    folder.mkdir(exist_ok=True)
    data = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
    (folder / name).write_bytes(data)
    return LogDatabase(find_sources([str(folder)], default="", here="here"))


@pytest.mark.thorough
def test_sessions_of_two_machines(database: LogDatabase) -> None:
    rows = ask(
        database,
        "SELECT machine, session, goals, commands, risk, is_root, safety_off, crashed, pruned FROM sessions ORDER BY ALL",
    )
    assert rows == [
        ("web1", "one", 6, 7, "high", False, False, False, False),
        ("web1", "two", 2, 2, "medium", False, False, False, False),
        ("web2", "three", 2, 2, "high", True, True, False, False),
    ]


def test_a_goal_without_an_ending_is_interrupted(database: LogDatabase) -> None:
    assert ask(database, "SELECT status, ran, ended FROM goals WHERE goal = 'cut off'") == [("interrupted", 1, None)]


def test_an_edited_command_has_the_rating_of_what_ran(database: LogDatabase) -> None:
    rows = ask(database, "SELECT proposed, run, decision, undo_id, effects FROM commands WHERE edited")
    assert rows == [("rm -r build", "rm -r build/tmp", "edited", "u1", "delete")]


def test_every_column_of_every_view_is_there(database: LogDatabase) -> None:
    for view, columns in views().items():
        answer = database.ask(f"FROM {view} LIMIT 0")
        assert [(name, kind) for name, kind in zip(answer.columns, answer.types, strict=True)] == [
            (column.name, column.type) for column in _in_order(view, answer.columns)
        ]
        assert set(answer.columns) == {column.name for column in columns}


def _in_order(view: str, names: list[str]) -> list:
    by_name = {column.name: column for column in views()[view]}
    return [by_name[name] for name in names]


def test_strings_stay_strings_and_objects_stay_objects() -> None:
    columns = line_columns()
    assert columns["command"] == columns["origin"] == columns["data"] == "VARCHAR"
    assert columns["report"] == columns["result"] == columns["usage"] == "JSON"
    assert columns["exit_code"] == "BIGINT"
    assert columns["timeout"] == columns["duration"] == "DOUBLE"
    assert columns["stream"] == "VARCHAR"


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO '/tmp/x'", "ATTACH '/tmp/x'", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "SET threads = 8",
        "CREATE TABLE x AS SELECT 1", "CALL pragma_version()", "EXPLAIN ANALYZE SELECT 1", "SELECT 1; SELECT 2", "", "-- nothing",
        "EXPORT DATABASE '/tmp/x'", "DROP VIEW goals", "FROM read_text('/etc/passwd')", "FROM '/etc/passwd'", "FROM glob('/etc/*')",
        "SELECT * FROM read_csv('/etc/passwd')", "FROM read_blob('http://127.0.0.1:1/')", "FROM read_parquet('/etc/passwd')",
        "FROM enable_logging(storage = 'file')", "FROM query('COPY (SELECT 1) TO ''/tmp/x''')", "FROM sniff_csv('/etc/passwd')",
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(database: LogDatabase, query: str) -> None:
    with pytest.raises(InvalidRequest):
        ask(database, query)


def test_a_local_variable_is_no_table(database: LogDatabase) -> None:
    answer = [1, 2]  # DuckDB's Python module would look for names like this one
    with pytest.raises(InvalidRequest):
        ask(database, "FROM answer")
    assert answer


def test_an_error_says_what_and_where(database: LogDatabase) -> None:
    with pytest.raises(InvalidRequest) as raised:
        ask(database, "SELECT statsu FROM goals")
    assert '"statsu" not found' in raised.value.message
    assert "LINE 1" in raised.value.hint


@pytest.mark.parametrize("query", ["SELECT [now()]", "SELECT INTERVAL '99999999 years'"])
def test_a_value_that_python_has_not_is_an_error_in_words(database: LogDatabase, query: str) -> None:
    try:
        rows = ask(database, query)
    except InvalidRequest as error:
        assert "cast it" in error.hint and "Traceback" not in error.message
    else:
        assert rows  # with a package that knows time zones


@pytest.mark.thorough
def test_lines_that_are_no_events_are_counted_and_break_nothing(tmp_path: Path) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    lines: list[str | bytes] = [
        json.dumps({**LINE, "type": "command.proposed", "command": "echo \x00 \x1b[31m"}),
        json.dumps({**LINE, "type": "command.rated", "report": "no report", "seq": "four"}),
        json.dumps({**LINE, "type": "command.rated"})[:-1] + f', "report": {deep}}}',
        json.dumps({**LINE, "type": "command.confirmed", "by": ["x"], "word_typed": "maybe", "seq": 10**40}),
        json.dumps({**LINE, "type": "command.finished", "exit_code": "x", "result": "{not json"}),
        json.dumps({**LINE, "type": "goal.finished", "time": "9999999-99-99"})[:-1] + ', "usage": {"cost": 1e999}, "duration": 1e400}',
        "not json", "", "[]", "42", "null", deep, b'{"type": "x\xff"}', json.dumps(LINE), json.dumps({**LINE, "type": "x"})[:40],
    ]  # fmt: skip
    with of_lines(tmp_path / "logs", *lines) as database:
        assert ask(database, "SELECT count(*) FROM events") == [(6,)]
        assert database.ignored() == 8  # an empty line is none
        for view in views():
            ask(database, f"FROM {view}")
        rows = ask(database, "SELECT proposed, decided_by, word_typed, exit_code, duration FROM commands")
        assert rows == [("echo \x00 \x1b[31m", None, None, None, 0.0)]


@pytest.mark.thorough
def test_times_with_an_offset_are_told_in_utc(tmp_path: Path) -> None:
    times = (
        "2026-03-04T10:00:00Z",
        "2026-03-04T10:00:00.5+00:00",
        "2026-03-04T12:00:00+02:00",
        "2026-03-04T23:00:00-05:30",
        "now",
    )
    lines = [json.dumps({**LINE, "seq": place, "time": time, "type": "notice"}) for place, time in enumerate(times)]
    with of_lines(tmp_path, *lines) as database:
        found = ask(database, "SELECT time::VARCHAR FROM events ORDER BY seq")
    expected = ["2026-03-04 10:00:00", "2026-03-04 10:00:00.5", "2026-03-04 10:00:00", "2026-03-05 04:30:00", None]
    assert [row[0] for row in found] == expected


@pytest.mark.thorough
def test_a_line_longer_than_any_record_is_left_out(tmp_path: Path) -> None:
    event = json.dumps({**LINE, "type": "notice", "text": "small"})
    long = json.dumps({**LINE, "type": "notice", "text": "x" * (34 * 1024 * 1024)})
    with of_lines(tmp_path / "logs", event, long, event) as database:
        assert ask(database, "SELECT count(*), max(length(text)) FROM events") == [(2, 5)]
        assert database.ignored() == 1


def test_a_log_cannot_speak_for_another_session(tmp_path: Path) -> None:
    of_lines(tmp_path / "logs", json.dumps({**LINE, "type": "goal.started", "goal": "mine", "session": "victim"}))
    with of_lines(
        tmp_path / "logs", json.dumps({**LINE, "type": "goal.started", "goal": "v"}), name="2026-03-04-victim.jsonl"
    ) as database:
        assert ask(database, "SELECT session, goal FROM goals ORDER BY 1") == [("h", "mine"), ("victim", "v")]


def test_odd_names_are_names(tmp_path: Path) -> None:
    folder = tmp_path / "a [b]* 'c'?"
    with of_lines(folder, json.dumps({**LINE, "type": "notice"})) as database:
        assert ask(database, "SELECT file, session FROM events") == [(str(folder / "2026-03-04-h.jsonl"), "h")]


def test_no_logs_at_all(tmp_path: Path) -> None:
    with LogDatabase(find_sources([], default=str(tmp_path / "none"), here="here")) as database:
        assert ask(database, "SELECT count(*) FROM goals") == [(0,)]
        for view in views():
            assert ask(database, f"FROM {view}") in ([],)
        assert database.ignored() == 0


def test_the_private_folder_is_private_and_goes(folders: list[Path]) -> None:
    with LogDatabase(find_sources([str(folders[0])], default="", here="here")) as database:
        folder = database.folder
        assert os.stat(folder).st_mode & 0o777 == 0o700
        assert database.write_parquet("FROM goals -- all of them;", os.path.join(folder, "x.parquet")) == 8
    assert not os.path.exists(folder)


@pytest.mark.thorough
def test_memory_is_bounded_in_words(folders: list[Path]) -> None:
    with (
        LogDatabase(find_sources([str(folders[0])], default="", here="here"), memory="80MB") as database,
        pytest.raises(CoreError, match="needs more than 80MB"),
    ):
        ask(database, "SELECT list(range + random()) FROM range(100000000)")
    with pytest.raises(ConfigError, match="--memory-limit much"), LogDatabase([], memory="much"):
        pass


def test_no_log_can_be_reached_by_a_query(tmp_path: Path) -> None:
    event = json.dumps({**LINE, "type": "notice"}) + "\n"
    for number in range(520):
        (tmp_path / f"2026-03-04-s{number}.jsonl").write_text(event)
    with LogDatabase(find_sources([str(tmp_path)], default="", here="here")) as database:
        assert ask(database, "SELECT count(DISTINCT session) FROM events") == [(520,)]
        for path in ("/etc/passwd", str(tmp_path / "2026-03-04-s1.jsonl")):
            with pytest.raises(InvalidRequest):
                ask(database, f"FROM read_text('{path}')")


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_pieces_and_columns_change_no_answer(
    database: LogDatabase, folders: list[Path], monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(staging, "PIECE", 2_000)
    monkeypatch.setattr(filling, "PIECE", 3_000)
    with LogDatabase(find_sources([str(folders[0].parents[1])], default="", here="here")) as pieces:
        for view in ("sessions", "goals", "commands"):
            names = [column.name for column in views()[view]][::every]
            rows = ask(database, f"SELECT {', '.join(names)} FROM {view}")
            for name, wanted in zip(names, zip(*rows, strict=True), strict=True):
                pieces._filled.clear()  # each column alone, so that nothing else is read
                got = [row[0] for row in ask(pieces, f"SELECT {name} FROM {view}")]
                assert sorted(map(repr, got)) == sorted(map(repr, wanted)), (view, name)


@pytest.mark.thorough
def test_what_killed_processes_left_goes_and_what_is_in_use_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, new = tmp_path / "agent-shell-sql-left", tmp_path / "agent-shell-sql-new"
    left.mkdir()
    (left / "lock").touch()
    new.mkdir()
    (tmp_path / "agent-shell-sql-link").symlink_to(tmp_path)
    with LogDatabase([]) as first, LogDatabase([]) as second:
        assert os.path.isdir(first.folder) and os.path.isdir(second.folder)
        assert not left.exists() and new.exists()
    assert sorted(os.listdir(tmp_path)) == ["agent-shell-sql-link", "agent-shell-sql-new"]


def test_after_an_interrupt_nothing_is_answered(folders: list[Path]) -> None:
    with LogDatabase(find_sources([str(folders[0])], default="", here="here")) as database:
        database.interrupt()
        with pytest.raises(InvalidRequest, match="interrupted"):
            ask(database, "FROM goals")


def test_sources(tmp_path: Path, folders: list[Path]) -> None:
    found = find_sources([str(folders[0].parents[1] / "*" / "sessions")], default="", here="here")
    assert sorted({source.machine for source in found}) == ["web1", "web2"]
    assert [source.session for source in found] == ["one", "two", "three"]
    one = find_sources([found[0].path], default="", here="here")
    assert one == [Source(found[0].path, "sessions", "one", found[0].size)]
    assert {source.machine for source in find_sources([], default=str(folders[0]), here="here")} == {"here"}
    with pytest.raises(NotFound):
        find_sources([str(tmp_path / "none*")], default="", here="here")
    os.mkfifo(tmp_path / "2026-03-04-pipe.jsonl")
    with pytest.raises(NotFound):
        find_sources([str(tmp_path / "2026-03-04-pipe.jsonl")], default="", here="here")
