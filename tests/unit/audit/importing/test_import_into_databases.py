"""Logs in SQLite and PostgreSQL: the same again, what is new, nothing half done, and the same rows as the views."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.audit.importing import project as importing
from agent.audit.importing.project import TABLES
from agent.audit.importing.store import open_store, shown_url
from agent.cli.arguments import parse
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.sessions import import_
from agent.protocol.errors import ConfigError, CoreError, InvalidRequest, InvalidState, IoError
from agent.recording.line import MOST_NUMBER
from tests.support.audit_world import Log, write_world
from tests.support.postgres_server import NoServer, server

Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    try:
        running = server()
        url = running.__enter__()
    except NoServer as error:
        pytest.skip("needs postgres" if "no initdb" in str(error) else str(error))
    yield url
    running.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Ask]]:
    """Where to import to, and a way to look into it."""
    if request.param == "sqlite":
        path = str(tmp_path / "audit.db")

        def ask(query: str) -> list[tuple[Any, ...]]:
            with sqlite3.connect(path) as connection:
                return connection.execute(query).fetchall()

        yield path, ask
        return
    url = request.getfixturevalue("postgres")
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        yield url, lambda query: connection.execute(query).fetchall()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    write_world(tmp_path / "logs")
    return tmp_path / "logs"


@pytest.fixture
def imported(tmp_path: Path, capsysbinary: Any) -> Callable[..., dict[str, Any]]:
    """`imported(arguments…)` -> what it says it did."""

    def run(*arguments: str, **environ: str) -> dict[str, Any]:
        options = parse("sessions", ["import", "--json", *arguments])
        settings = Settings(session_dir=str(tmp_path / "logs"), json=True)
        loaded = Loaded(
            settings=settings, origins={}, secrets={}, environ={"XDG_STATE_HOME": str(tmp_path / "state"), **environ}
        )
        assert asyncio.run(import_.run(SimpleNamespace(settings=settings, loaded=loaded), options)) == 0  # type: ignore[arg-type]
        return json.loads(capsysbinary.readouterr().out)

    return run


def counts(ask: Ask) -> dict[str, int]:
    return {table: ask(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


@pytest.mark.few(1)
def test_import_again_and_what_is_new(target: tuple[str, Ask], world: Path, imported: Any) -> None:
    url, ask = target
    first = imported(str(world), "--to", url)
    assert {key: first[key] for key in ("sessions", "new", "changed", "removed", "unreadable")} == {
        "sessions": 3, "new": 3, "changed": 0, "removed": 0, "unreadable": 0,
    }  # fmt: skip
    assert counts(ask) == {"logs": 3, "sessions": 3, "goals": 10, "commands": 11, "events": first["events"]}
    again = imported(str(world), "--to", url)
    assert (again["new"], again["changed"], again["events"]) == (0, 0, 0)

    more = Log(world / "web2" / "sessions", "three")
    more._goals = 10  # ids are never used twice
    more.goal("one more", {"command": "ls"})
    more.close()
    os.unlink(next((world / "web1" / "sessions").glob("*two*")))
    later = imported(str(world), "--to", url)
    assert (later["new"], later["changed"], later["removed"]) == (0, 1, 1)
    assert counts(ask) == {"logs": 2, "sessions": 2, "goals": 9, "commands": 10, "events": counts(ask)["events"]}
    assert ask("SELECT goal FROM goals WHERE goal = 'one more'") == [("one more",)]
    rebuilt = imported(str(world), "--to", url, "--rebuild")
    assert (rebuilt["new"], rebuilt["sessions"]) == (2, 2)
    assert counts(ask)["goals"] == 9


@pytest.mark.few(1)
def test_rows_are_those_of_the_views(target: tuple[str, Ask], world: Path, imported: Any) -> None:
    pytest.importorskip("duckdb", reason="the extra `audit` is not installed")
    from agent.audit.sql.database import LogDatabase
    from agent.audit.sql.sources import find_sources

    url, ask = target
    imported(str(world), "--to", url)
    shared = {
        "sessions": "machine, session, events, goals, commands, risk, cwd, program, is_root, safety_off, crashed, pruned",
        "goals": "goal_id, goal, origin, status, exit_code, risk, commands, steps, duration, input_tokens, cost, planner, model",
        "commands": "command_id, goal_id, proposed, run, origin, risk, rules, decision, decided_by, word_typed, edited, "
        "cwd, exit_code, duration, undo_id",
    }
    with LogDatabase(find_sources([str(world)], default="", here="here")) as views:
        for table, columns in shared.items():
            query = f"SELECT {columns} FROM {table}"
            assert sorted(map(_plain, ask(query))) == sorted(map(_plain, views.ask(query).rows())), table


def _plain(row: tuple[Any, ...]) -> str:
    return repr(
        tuple(
            int(value) if isinstance(value, bool) else float(value) if isinstance(value, int) else value
            for value in row
        )
    ).replace(".0", "")


@pytest.mark.few(1)
def test_a_failure_in_the_middle_leaves_what_was_there(
    target: tuple[str, Ask], world: Path, imported: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, ask = target
    imported(str(world / "web1"), "--to", url)
    before = counts(ask)
    done = []

    def dies(*arguments: Any) -> Any:
        done.append(arguments)
        if len(done) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    real = importing.Projection
    monkeypatch.setattr(importing, "Projection", dies)
    with pytest.raises(KeyboardInterrupt):
        imported(str(world), "--to", url, "--rebuild")
    assert len(done) == 2
    assert counts(ask) == before


def test_hostile_lines_become_rows_or_are_counted(target: tuple[str, Ask], tmp_path: Path, imported: Any) -> None:
    url, ask = target
    (tmp_path / "logs").mkdir()
    base = '"seq": 1, "session": "h", "goal_id": "g", "command_id": "g.1"'
    lines = [
        f'{{{base}, "type": "command.proposed", "command": "a\\u0000b"}}',
        f'{{{base}, "type": "command.rated", "report": {"[" * 400}{"]" * 400}}}',
        f'{{{base}, "type": "command.finished", "exit_code": {"9" * 40}, "result": {{"duration": 1e308}}}}',
        f'{{{base}, "type": "goal.finished", "exit_code": 1e99, "status": ["x"], "time": "0000-13-99", "usage": 5}}',
        f'{{{base}, "type": "x", "x": 1{"0" * 2000}}}',
        f'{{{base}, "type": "x", "time": "9999-12-31T23:59:59-23:59"}}',
        '{"seq": 1}', "no", "[" * 100_000, '"x"',
    ]  # fmt: skip
    (tmp_path / "logs" / "2026-03-04-h.jsonl").write_bytes(
        "\n".join(lines).encode() + b'\n{"type": "\xff"}\n{"type": "torn'
    )
    told = imported("--to", url)
    events = ask("SELECT count(*) FROM events")[0][0]
    assert (told["events"], told["unreadable"]) == (events, 12 - events)
    assert events >= 5
    assert ask("SELECT proposed, exit_code FROM commands") == [("a\N{SYMBOL FOR NULL}b", MOST_NUMBER)]
    assert ask("SELECT status, exit_code FROM goals") == [("interrupted", None)]


@pytest.mark.few(1)
def test_other_tables_and_versions_are_left_alone(target: tuple[str, Ask], world: Path, imported: Any) -> None:
    url, ask = target
    imported("--to", url)
    _do(url, "UPDATE agent_shell_meta SET version = 99")
    with pytest.raises(InvalidState) as raised:
        imported("--to", url)
    assert "--rebuild" in raised.value.hint
    imported("--to", url, "--rebuild")
    _do(url, "DROP TABLE agent_shell_meta")
    with pytest.raises(InvalidState, match="other tables"):
        imported("--to", url, "--rebuild")
    assert ask("SELECT count(*) FROM goals") == [(10,)]


def _do(url: str, statement: str) -> None:
    if "://" not in url:
        with sqlite3.connect(url) as connection:
            connection.execute(statement)
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def test_the_default_is_private_and_in_the_state_folder(tmp_path: Path, world: Path, imported: Any) -> None:
    told = imported()
    path = tmp_path / "state" / "agent-shell" / "audit.sqlite3"
    assert told["database"] == str(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_single_log_does_not_forget_its_neighbours(tmp_path: Path, world: Path, imported: Any) -> None:
    imported()
    one = str(next((world / "web1" / "sessions").glob("*one*")))
    assert imported(one)["removed"] == 0


def test_a_folder_whose_name_is_no_text_is_imported_again(tmp_path: Path, imported: Any) -> None:
    folder = tmp_path / os.fsdecode(b"logs\xff")
    log = Log(folder, "one")
    log.goal("first", {"command": "ls"})
    imported(str(folder))
    log.goal("second", {"command": "ls"})
    log.close()
    assert imported(str(folder))["changed"] == 1
    with sqlite3.connect(tmp_path / "state" / "agent-shell" / "audit.sqlite3") as connection:
        assert connection.execute("SELECT goal FROM goals").fetchall() == [("first",), ("second",)]


def test_two_imports_at_once(tmp_path: Path, world: Path, imported: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    imported()
    path = tmp_path / "state" / "agent-shell" / "audit.sqlite3"
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda path, **more: connect(path, **{**more, "timeout": 0}))
        with pytest.raises(IoError, match="locked"):
            imported()


def test_secrets_of_a_url_are_not_shown(imported: Any) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    url = "postgresql://me:open-sesame@127.0.0.1:1/audit?password=open-sesame-too&sslmode=disable"
    assert shown_url(url) == "postgresql://127.0.0.1:1/audit"
    with pytest.raises(IoError) as raised:
        imported("--to-env", "DB", DB=url)
    assert "sesame" not in raised.value.terminal_message()
    with pytest.raises(InvalidRequest):
        imported("--to-env", "NONE")


def test_targets_that_are_none(tmp_path: Path, imported: Any) -> None:
    with pytest.raises(ConfigError, match="SQLite and PostgreSQL"):
        imported("--to", "mysql://x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CoreError, match="cannot be opened"):
        imported("--to", str(tmp_path / "link"))
    (tmp_path / "text").write_text("not a database " * 100)
    with pytest.raises(CoreError):
        imported("--to", str(tmp_path / "text"))
    open_store(f"sqlite://{tmp_path}/x.db").close()


def test_long_lines_are_not_gathered_by_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path / "a.sqlite3"))
    sizes: list[int] = []
    monkeypatch.setattr(store, "_run_many", lambda statement, rows: sizes.append(len(rows)))
    assert store.add("logs", [("x" * 3_000_000,)] * 5 + [("y",)] * 600) == 605
    assert sizes == [2, 2, 500, 101]
    store.close()
