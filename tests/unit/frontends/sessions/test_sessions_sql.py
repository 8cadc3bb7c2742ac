"""`sessions sql` as a person and as a program see it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="the extra `audit` is not installed")

from agent.audit.sql import database as module
from agent.cli.arguments import parse
from agent.config.load import Loaded
from agent.config.optional_parts import install_command
from agent.config.settings import Settings
from agent.emitters.streamed_table import write_csv, write_table
from agent.emitters.streams import StreamSink
from agent.frontends.sessions import sql
from agent.frontends.sessions.dispatch import action
from agent.protocol.errors import ConfigError, InvalidRequest, IoError
from tests.support.audit_world import write_world


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))[0]


@pytest.fixture
def asked(logs: Path, capsysbinary: Any) -> Any:
    """`asked(arguments…)` -> (exit code, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        options = parse("sessions", ["sql", *arguments])
        settings = Settings(session_dir=str(logs), json=bool(options.json))
        services = SimpleNamespace(
            settings=settings, loaded=Loaded(settings=settings, origins={}, secrets={}, environ={})
        )
        code = asyncio.run(sql.run(services, options))  # type: ignore[arg-type]
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_a_table(asked: Any) -> None:
    code, out, err = asked("SELECT status, count(*) AS goals, sum(cost) AS cost FROM goals GROUP BY 1 ORDER BY 1")
    assert (code, err) == (0, "")
    assert out == (
        "status             goals  cost\n"
        "blocked_by_policy      1\n"
        "completed              4  0.75\n"
        "failed                 2\n"
        "interrupted            1\n"
    )  # fmt: skip


def test_json_lines(asked: Any) -> None:
    _, out, _ = asked("--json", "SELECT time, run, time AS run FROM commands WHERE edited")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"time": "2026-03-04T10:00:11Z", "run": "rm -r build/tmp", "run_2": "2026-03-04T10:00:11Z"}
    ]


def test_csv_to_a_private_file(asked: Any, tmp_path: Path) -> None:
    target = tmp_path / "answer.csv"
    target.write_text("old")
    assert asked("SELECT goal, message FROM goals ORDER BY ALL LIMIT 2", "--format", "csv", "-o", str(target)) == (
        0,
        "",
        "",
    )
    assert list(csv.reader(io.StringIO(target.read_text()))) == [
        ["goal", "message"],
        ["again", ""],
        ["away with it", ""],
    ]
    assert target.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["answer.csv"]


@pytest.mark.thorough
def test_a_failed_query_leaves_the_old_file(asked: Any, tmp_path: Path) -> None:
    target = tmp_path / "answer.csv"
    target.write_text("old")
    with pytest.raises(InvalidRequest):
        asked("SELECT error('no') FROM goals", "--format", "csv", "-o", str(target))
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["answer.csv"]
    with pytest.raises(IoError, match="cannot write"):
        asked("SELECT 1", "-o", str(tmp_path / "none" / "x"))


@pytest.mark.thorough
def test_parquet(asked: Any, tmp_path: Path) -> None:
    import duckdb

    target = tmp_path / "it's.parquet"
    assert (
        asked(
            "SELECT session, count(*) AS n FROM commands GROUP BY 1 ORDER BY 1 -- both",
            "--format",
            "parquet",
            "-o",
            str(target),
        )[0]
        == 0
    )
    assert duckdb.read_parquet(str(target)).fetchall() == [("one", 7), ("two", 2)]


def test_other_places(asked: Any, logs: Path) -> None:
    _, out, _ = asked(
        "SELECT machine, count(*) AS n FROM goals GROUP BY 1 ORDER BY 1", str(logs.parents[1] / "*" / "sessions")
    )
    assert out == "machine  n\nweb1     8\nweb2     2\n"


def test_ignored_lines_are_told(asked: Any, tmp_path: Path) -> None:
    (tmp_path / "2026-03-04-x.jsonl").write_text('{"type": "notice"}\nnonsense\n')
    code, out, err = asked("SELECT count(*) AS n FROM events", str(tmp_path))
    assert (code, out) == (0, "n\n1\n")
    assert (
        err == "agent-shell: 1 line is no event and is not in the answer; `agent-shell sessions verify` tells which\n"
    )


def test_the_schema_needs_no_log(asked: Any) -> None:
    _, out, _ = asked("--schema", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["view"] for row in rows} == {"sessions", "goals", "commands", "outputs", "events"}
    assert all(row["meaning"] for row in rows)


def test_without_a_query_or_duckdb(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequest, match="no query"):
        asked()
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(ConfigError) as raised:
        asked("SELECT 1")
    assert raised.value.hint == install_command("audit")
    assert module.DEFAULT_MEMORY == "150MB"


class _Screen(StreamSink):
    def size(self) -> tuple[int, int]:
        return 30, 24


def test_a_table_on_a_terminal_keeps_its_numbers_and_shows_what_is_hidden() -> None:
    stream = io.BytesIO()
    screen = _Screen(stream, is_tty=True, color=False)
    rows = [["x" * 80, 1_234_567], ["\x1b]0;own\x07漢字" + "y" * 60, 8]]
    assert write_table(["text", "n"], [False, True], rows, screen) == 2
    lines = stream.getvalue().decode().splitlines()
    assert [line[-10:].strip().split()[-1] for line in lines] == ["n", "1,234,567", "8"]
    assert "\x1b" not in stream.getvalue().decode()
    assert all(len(line) <= 30 for line in lines)


def test_csv_on_a_terminal_is_inert_and_elsewhere_exact() -> None:
    for is_screen in (True, False):
        stream = io.BytesIO()
        write_csv(["a"], [["\x1b[2J,\n"]], StreamSink(stream, is_tty=is_screen, color=False))
        assert (b"\x1b" in stream.getvalue()) is not is_screen


def test_no_text_of_a_log_becomes_a_formula() -> None:
    stream = io.BytesIO()
    row = ["=cmd|' /c calc'!A1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "a=1", -1, -1.5, ""]
    write_csv([str(place) for place in range(len(row))], [row], StreamSink(stream, is_tty=False, color=False))
    told = next(iter(list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))[1:]))
    assert told == ["'=cmd|' /c calc'!A1", "'+1", "'-1", "'@SUM(1)", "'\t=1", "'\r=1", "a=1", "-1", "-1.5", ""]


def test_import_is_found_under_a_name_that_a_module_can_have() -> None:
    assert action("import").__name__ == "agent.frontends.sessions.import_"  # type: ignore[attr-defined]


@pytest.mark.thorough
def test_a_signal_ends_it_and_leaves_no_copy(asked: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = module.LogDatabase.ask

    def signalled(database: Any, query: str) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        database._stop.wait(60)
        return before(database, query)

    monkeypatch.setattr(module.LogDatabase, "ask", signalled)
    assert asked("SELECT * FROM goals") == (143, "", "")
    assert os.listdir(tmp_path) == []


@pytest.mark.thorough
def test_expanded_is_a_table_and_nothing_else(asked: Any) -> None:
    code, out, _ = asked("-x", "SELECT 'a' AS one, 2 AS two")
    assert (code, out) == (0, "row 1\none  a\ntwo  2\n")
    for form in ("csv", "json", "parquet"):
        with pytest.raises(InvalidRequest):
            asked("-x", "--format", form, "SELECT 1")
