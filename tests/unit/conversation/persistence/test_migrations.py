"""Revisions of the database of interviews, up and down, with rows in it, on SQLite and on PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from agent.conversation.persistence import database as module
from agent.conversation.persistence.database import Database, migrate, open_database
from agent.conversation.persistence.tables import (
    CHECKPOINTS,
    EXTRACTIONS,
    HANDOFFS,
    LOCAL_TENANT,
    METADATA,
    PROJECTS,
    REVISIONS,
    SESSIONS,
    VERSION_TABLE,
    uuid_of,
)
from agent.conversation.persistence.task_journal import TaskJournal
from agent.protocol.errors import InvalidState, IoError

PROJECT, SESSION, MESSAGE = uuid_of("project", "/w"), uuid_of("session", "s"), uuid_of("message", "m")
STATE_211 = {
    "engine_id": "ideation",
    "engine_version": "1.0.0",
    "extraction_state": {"a.b": {"value": "x"}},
    "turnNumber": 3,
}
STATE = {"engineId": "ideation", "engineVersion": "1.0.0", "extraction": {"a.b": {"value": "x"}}, "turnNumber": 3}


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = open_database(url, "")
    yield opened
    opened.close()


def _differences(connection: sa.Connection) -> list[Any]:
    options = {"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), METADATA))


def _fill(connection: sa.Connection, revision: str) -> None:
    """Put a row into each table that there is at a revision."""
    connection.execute(PROJECTS.insert().values(id=PROJECT, name="/w"))
    state = STATE if revision < "211" else STATE_211
    about = {"name": "261127-abc", "engine_id": "ideation", "turn_number": 3, "state_json": state}
    connection.execute(SESSIONS.insert().values(id=SESSION, project_id=PROJECT, **about))
    if revision >= "208":
        ends = {"source_engine_id": "ideation", "target_engine_id": "exploration", "source_session_id": SESSION}
        connection.execute(HANDOFFS.insert().values(project_id=PROJECT, handoff_payload={"a": 1}, **ends))
    if revision >= "209":
        about = {"session_id": SESSION, "message_id": MESSAGE, "engine_id": "ideation", "field_path": "a.b"}
        row = {"project_id": PROJECT, "extracted_value": ["x"], "confidence": 0.9, "extraction_type": "new"}
        connection.execute(EXTRACTIONS.insert().values(**about, **row))
    if revision >= "210":
        connection.execute(CHECKPOINTS.insert().values(session_id=SESSION, at_turn=3, state_snapshot=STATE))


def _counts(connection: sa.Connection) -> dict[str, int]:
    there = set(sa.inspect(connection).get_table_names())
    tables = [table for table in METADATA.sorted_tables if table.name in there]
    return {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in tables
    }


def test_the_revisions_are_those_of_the_folder() -> None:
    folder = Path(module.__file__).parent / "migrations"
    known = [each.revision for each in ScriptDirectory(str(folder)).walk_revisions()]
    assert tuple(reversed(known)) == REVISIONS


@pytest.mark.covers("S3-116", "S3-117", "S3-118")
def test_the_revisions_make_the_tables_as_they_are_defined(database: Database) -> None:
    with database.writing() as connection:
        assert _differences(connection) == []
        migrate(connection, "base", down=True)
        assert set(sa.inspect(connection).get_table_names()) == {VERSION_TABLE}
        migrate(connection)
        assert _differences(connection) == []


@pytest.mark.covers("S3-116", "S3-117", "S3-118", "S3-119")
@pytest.mark.few(2)
@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_from_each_earlier_revision_with_rows_up_and_down_again(database: Database, url: str, revision: str) -> None:
    with database.writing() as connection:
        migrate(connection, revision, down=True)
        _fill(connection, revision)
        before = _counts(connection)
    again = open_database(url, "")  # as who has updated the program
    again.close()
    with database.writing() as connection:
        assert {name: count for name, count in _counts(connection).items() if name in before} == before
        state = connection.execute(sa.select(SESSIONS.c.state_json)).scalar_one()
        assert state["extraction_state"] == STATE["extraction"]
        assert state["turnNumber"] == 3
        for newer, older in pairwise(reversed(REVISIONS)):
            migrate(connection, older, down=True)
            assert connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar() == older, newer
            if older == revision:
                break
        assert _counts(connection) == before
        state = connection.execute(sa.select(SESSIONS.c.state_json)).scalar_one()
        assert state == (STATE if revision < "211" else STATE_211)


@pytest.mark.covers("S3-119")
def test_a_state_has_the_keys_that_it_is_looked_for_by(database: Database) -> None:
    with database.writing() as connection:
        migrate(connection, "210", down=True)
        _fill(connection, "210")
        migrate(connection)
        state = connection.execute(sa.select(SESSIONS.c.state_json)).scalar_one()
    assert state == {
        "engine_id": "ideation", "engine_version": "1.0.0", "extraction_state": {"a.b": {"value": "x"}}, "turnNumber": 3,
        "inbound_handoff_id": None, "outbound_handoff_id": None,
    }  # fmt: skip


@pytest.mark.covers("S3-116", "S3-117", "S3-118")
def test_the_columns_constraints_and_indices_of_the_specification(database: Database) -> None:
    with database.writing() as connection:
        seen = sa.inspect(connection)
        indices = {name: {each["name"] for each in seen.get_indexes(name)} for name in seen.get_table_names()}
        required = {
            name: {each["name"] for each in seen.get_columns(name) if not each["nullable"]}
            for name in seen.get_table_names()
        }
        _fill(connection, REVISIONS[-1])
        made = connection.execute(sa.select(HANDOFFS)).one()
    assert indices["eng_handoffs"] == {
        f"idx_eng_handoffs_{each}" for each in ("project", "source_session", "target_session")
    }
    assert indices["eng_extractions_log"] == {f"idx_eng_extractions_{each}" for each in ("session", "project", "field")}
    assert indices["eng_state_checkpoints"] == {"idx_eng_checkpoints_session", "idx_eng_checkpoints_turn"}
    ends = {"source_engine_id", "source_session_id", "target_engine_id"}
    assert required["eng_handoffs"] == {"id", "project_id", "handoff_payload", "tenant_id", *ends}
    of_message = {"id", "session_id", "project_id", "message_id", "engine_id", "field_path", "tenant_id"}
    assert required["eng_extractions_log"] == of_message
    assert required["eng_state_checkpoints"] == {"id", "session_id", "at_turn", "state_snapshot", "tenant_id"}
    assert made.verified is False
    assert made.tenant_id == LOCAL_TENANT
    assert abs((datetime.now(UTC) - made.created_at).days) <= 1  # the database's own clock, in UTC and aware


def test_rows_of_a_project_go_with_it_and_what_breaks_a_rule_is_refused(database: Database) -> None:
    with database.writing() as connection:
        _fill(connection, REVISIONS[-1])
    for broken in (
        {"extraction_type": "guess"},
        {"project_id": MESSAGE},
        {"superseded_by": MESSAGE},
        {"tenant_id": None},
    ):
        about = {
            "session_id": SESSION,
            "message_id": MESSAGE,
            "engine_id": "x",
            "field_path": "a",
            "project_id": PROJECT,
        }
        with database.engine.connect() as connection, pytest.raises(sa.exc.IntegrityError):
            connection.execute(EXTRACTIONS.insert().values({**about, **broken}))
    with database.writing() as connection:
        connection.execute(PROJECTS.delete())
        left = {name for name, count in _counts(connection).items() if count}
    assert left == {"eng_state_checkpoints"}  # which know no project


def test_ids_and_times_are_made_by_the_database_too(database: Database) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql(
            f"INSERT INTO projects (tenant_id, name) VALUES ('{LOCAL_TENANT.hex}', 'a'), ('{LOCAL_TENANT.hex}', 'b')"
        )
        rows = connection.execute(sa.select(PROJECTS)).all()
    assert len({row.id for row in rows}) == 2
    assert all(row.created_at.tzinfo is not None for row in rows)


def test_a_later_program_and_tables_of_others_are_left_alone(url: str) -> None:
    database = open_database(url, "")
    with database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '999'")
    with pytest.raises(InvalidState, match="later version"):
        open_database(url, "")
    with database.writing() as connection:
        connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
        before = _counts(connection)
    with pytest.raises(InvalidState, match="something else"):
        open_database(url, "")
    with database.writing() as connection:
        assert _counts(connection) == before
    database.close()


def test_a_file_of_something_else_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(InvalidState, match="something else"):
        open_database(f"sqlite:///{path}", "")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]


_ENDLESS = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize(
    "acting",
    [
        f"CREATE TRIGGER each AFTER UPDATE ON elicitation_sessions BEGIN INSERT INTO projects (name) {_ENDLESS}; END",
        f"CREATE VIEW every AS {_ENDLESS}",
    ],
)
def test_a_file_that_does_something_by_itself_is_not_ours(tmp_path: Path, acting: str) -> None:
    path = tmp_path / "interviews.sqlite3"
    open_database("", str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(acting)
    with pytest.raises(InvalidState, match="something else"):
        open_database("", str(path))


@pytest.mark.parametrize(("column", "value"), [("id", "zz"), ("claims", "many")])
def test_a_value_of_another_type_is_told_in_words(tmp_path: Path, column: str, value: str) -> None:
    database = open_database("", str(tmp_path / "interviews.sqlite3"))
    journal = TaskJournal(lambda: database, LOCAL_TENANT, session=None, worker="w", lease=1.0)
    journal.add(LOCAL_TENANT, "kind", LOCAL_TENANT, {}, "/project")
    with database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE eng_tasks SET {column} = '{value}'")
    with pytest.raises(IoError, match="holds what"):
        journal.claim(["kind"], 1)
    database.close()
