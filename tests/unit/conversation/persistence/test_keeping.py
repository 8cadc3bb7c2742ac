"""Interviews in the database beside their logs: each turn, what was missed, and what must not be in it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa

from agent.conversation.persistence import keeping, store
from agent.conversation.persistence.tables import CHECKPOINTS, EXTRACTIONS, HANDOFFS, LOCAL_TENANT, PROJECTS, SESSIONS
from agent.conversation.registry.registry import registry
from agent.protocol.errors import IoError
from agent.recording.interview_turns import interview_of
from tests.support.kept_interview import ANSWERS, KeptInterview

TRIGGER = "purposeAndProblem.triggerEvent"
BY_TYPE = {
    "string": "It is a wiki, where everybody who works here can write what they know",
    "number": "12",
    "boolean": "yes",
    "array": "a wiki; a database; leave it as it is",
    "object": "a wiki; everybody here can already write in one",
}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> KeptInterview:
    return KeptInterview(tmp_path, monkeypatch, url)


def states(kept: KeptInterview) -> dict[int, Any]:
    return {row.at_turn: row.state_snapshot for row in kept.rows(CHECKPOINTS)}


def in_log(kept: KeptInterview) -> dict[int, Any]:
    assert kept.ctx.recorder.path
    [leg] = interview_of(kept.ctx.recorder.path)
    return {each.turn: each.state for each in leg.turns}


@pytest.mark.covers("S3-117", "S3-118", "S3-119")
def test_each_turn_is_in_the_database_as_it_is_in_the_log(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:4])
    assert states(kept) == in_log(kept)
    assert kept.persisted == ["done"] * 4
    assert kept.warnings == []
    [project] = kept.rows(PROJECTS)
    [session] = kept.rows(SESSIONS)
    assert (session.name, session.engine_id, session.turn_number) == (kept.ctx.session_id, "project-discovery", 4)
    assert (session.project_id, session.tenant_id, project.name) == (project.id, LOCAL_TENANT, str(kept.base / "work"))
    assert session.state_json["engine_id"] == "project-discovery"
    assert session.state_json["extraction_state"] == states(kept)[4]["extraction"]
    rows = kept.rows(EXTRACTIONS, EXTRACTIONS.c.turn_number)
    assert [(row.field_path, row.extraction_type) for row in rows][1:3] == [(TRIGGER, "new"), (TRIGGER, "supersede")]
    assert [row.superseded_by for row in rows] == [None, rows[2].id, None, None]
    assert len({row.message_id for row in rows}) == 4
    assert {row.session_id for row in rows} == {session.id}


def test_without_a_database_nothing_is_kept_but_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for settings in ({"interview_database": "none"}, {"persist": False}):
        kept = KeptInterview(tmp_path, monkeypatch, **settings)
        kept.say(ANSWERS[0])
        assert kept.persisted == ["skipped"]
        assert not kept.path.exists()


def test_the_file_is_private_and_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(ANSWERS[0])
    files = [each for each in kept.path.parent.iterdir() if each.name.startswith(keeping.FILE)]
    assert files
    assert {each.stat().st_mode & 0o777 for each in files} == {0o600}


def test_secrets_and_what_is_sensitive_are_not_in_the_database(kept: KeptInterview) -> None:
    secret, mail = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "bob@example.com"
    kept.say(f"Parcels get lost, the token is {secret}", f"Last week, ask {mail}", "we use paper lists")
    assert secret not in kept.everything
    assert "[redacted:github-token:" in kept.everything
    logged = repr([tuple(row) for row in kept.rows(EXTRACTIONS)])
    assert mail not in logged
    assert "[redacted:email:" in logged


def test_the_check_of_a_reply_is_kept_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    kept, told = KeptInterview(tmp_path, monkeypatch), list[Any]()

    def add(about: object, before: object, turn: object, verification: object) -> bool:
        told.append(verification)
        return True

    database = SimpleNamespace(attempt=lambda work: work(SimpleNamespace(add=add)) or "")
    kept.say(ANSWERS[0])
    session: Any = keeping.KeptSession(kept.ctx, cast(Any, database), "/project")
    asyncio.run(session.add(SimpleNamespace(id="g"), {}, {}, (), {"synthesis": f"So {secret} is it."}))
    assert told[0]["synthesis"].startswith("So [redacted:github-token:")


def answer_all(kept: KeptInterview) -> None:
    """Answer the form until the way on is open."""
    config = registry().get(kept.engine).config
    outcome = kept.say("Hello, I need some help")
    for _ in range(80):
        if outcome.interview and outcome.interview.target:
            return
        field = config.field(kept.ctx.interview.get("asked", ""))
        outcome = kept.say("1" if field and field.choices else BY_TYPE[field.value_type] if field else "well")
    pytest.fail("never ready")


@pytest.mark.thorough
@pytest.mark.covers("S3-116")
def test_what_an_engine_hands_over_is_kept_with_the_check_of_the_first_reply(kept: KeptInterview) -> None:
    kept.engine = "exploration"
    answer_all(kept)
    kept.say("yes", accept="project-discovery")
    kept.say("Last week we lost a pallet")
    source, target = kept.rows(SESSIONS, SESSIONS.c.engine_id)
    assert (source.engine_id, target.engine_id) == ("exploration", "project-discovery")
    [handoff] = kept.rows(HANDOFFS)
    assert (handoff.source_session_id, handoff.target_session_id) == (source.id, target.id)
    assert source.state_json["outbound_handoff_id"] == target.state_json["inbound_handoff_id"] == str(handoff.id)
    assert handoff.handoff_payload["metadata"]["targetEngineId"] == "project-discovery"
    assert set(handoff.verification_result) == {"verified", "score", "details", "synthesis", "unacknowledged"}
    assert handoff.transition_reason
    assert target.turn_number == 2


@pytest.mark.thorough
def test_what_is_handed_over_to_the_planner_is_kept_and_ends_the_interview(kept: KeptInterview) -> None:
    answer_all(kept)
    kept.say("go on", accept="planner")
    [session] = kept.rows(SESSIONS)
    [handoff] = kept.rows(HANDOFFS)
    assert (handoff.target_engine_id, handoff.source_session_id) == ("planner", session.id)
    assert (handoff.target_session_id, handoff.verified) == (None, False)
    assert session.state_json["ended"]
    assert states(kept) == in_log(kept)


def fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def add(*given: Any, **named: Any) -> bool:
        raise error

    monkeypatch.setattr(store.SqlStore, "add", add)


@pytest.mark.thorough
def test_a_database_that_fails_costs_no_turn_and_gets_later_what_it_missed(
    kept: KeptInterview, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.say(ANSWERS[0])
    with monkeypatch.context() as patch:
        fails(patch, IoError("the database is gone"))
        patch.setattr(keeping, "_PATIENCE", 0)
        kept.say(*ANSWERS[1:3])
    assert kept.persisted == ["done", "failed", "failed"]
    assert len(kept.warnings) == 1  # it is said once
    assert max(states(kept)) == 1
    kept.say(ANSWERS[3])
    assert states(kept) == in_log(kept)
    assert kept.persisted[-1] == "done"
    assert len(kept.warnings) == 2
    assert [row.turn_number for row in kept.rows(EXTRACTIONS, EXTRACTIONS.c.turn_number)] == [1, 2, 3, 4]


def test_one_that_takes_long_to_fail_is_left_alone_for_a_while() -> None:
    now, tried = [0.0], []

    def slow(store: Any) -> None:
        tried.append(now[0])
        now[0] += 5
        raise IoError("it does not answer")

    database = keeping.ProcessDatabase("none://", "", lambda: now[0])
    database.opened = lambda: None  # type: ignore[method-assign,assignment,return-value]
    for _ in range(30):
        assert database.attempt(slow) == "it does not answer"
        now[0] += 5
    assert len(tried) == 3


@pytest.mark.thorough
def test_killed_between_the_log_and_the_database(kept: KeptInterview, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is written first, so it may be ahead by a turn: the next turn of another process brings the database up to it."""
    kept.say(*ANSWERS[:2])
    with monkeypatch.context() as patch:
        fails(patch, IoError("killed"))
        kept.say(ANSWERS[2])
    session = kept.end()
    assert max(states(kept)) == 2
    kept.again(session)
    kept.say(ANSWERS[3])
    assert states(kept) == in_log(kept)
    assert kept.persisted[-1] == "done"


def test_a_database_that_was_lost_is_filled_from_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(*ANSWERS[:2])
    for each in kept.path.parent.iterdir():
        if each.name.startswith(keeping.FILE):
            each.unlink()  # in the middle of the process that has it open
    kept.say(ANSWERS[2])
    assert kept.persisted == ["done"] * 3
    assert states(kept) == in_log(kept)


@pytest.mark.few(2)
@pytest.mark.parametrize("what", ["garbage", "folder", "read-only", "link", "foreign", "nowhere"])
def test_a_file_that_cannot_be_used_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    kept = KeptInterview(tmp_path, monkeypatch, "" if what != "nowhere" else "sqlite:////dev/null/x.sqlite3")
    kept.path.parent.mkdir(parents=True, exist_ok=True)
    if what == "garbage":
        kept.path.write_bytes(b"no database at all " * 100)
    elif what == "folder":
        kept.path.mkdir()
    elif what == "link":
        kept.path.symlink_to(tmp_path / "elsewhere")
    elif what == "foreign":
        import sqlite3

        with sqlite3.connect(kept.path) as connection:
            connection.execute("CREATE TABLE mine (x)")
    elif what == "read-only":
        if not os.geteuid():
            pytest.skip("root writes everywhere")
        (kept.path.parent / f"{keeping.FILE}").touch()
        kept.path.chmod(0o400)
        kept.path.parent.chmod(0o500)
    kept.say(*ANSWERS[:2])
    kept.path.parent.chmod(0o700)
    assert kept.persisted == ["failed", "failed"]
    assert len(kept.warnings) == 1
    assert "it is in its log" not in kept.warnings[0]
    if what == "garbage":
        assert f"{kept.path} failed: file is not a database" in kept.warnings[0]
    assert len(in_log(kept)) == 3


def test_a_hostile_address_is_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for url in (
        "mysql://me:open-sesame@h/x",
        "postgresql://me:open-sesame@127.0.0.1:1/x\x1b[2J",
        "postgresql://me:open-sesame@[::1/x",
        "postgresql://me:open-sesame@127.0.0.1:1/x?nonsense=open-sesame",
        "host=h password=open-sesame",
    ):
        kept = KeptInterview(tmp_path, monkeypatch, url)
        kept.say(ANSWERS[0])
        assert kept.persisted == ["failed"], url
        assert len(kept.warnings) == 1
        assert "sesame" not in kept.warnings[0]
        assert "\x1b" not in kept.warnings[0]
        shown = {row["setting"]: row["value"] for row in kept.services.loaded.rows()}
        assert "sesame" not in shown["interview_database"]


@pytest.mark.thorough
def test_two_processes_open_the_database_at_once(kept: KeptInterview) -> None:
    """Two sessions, each with a database of its own, in one file: neither loses a turn."""
    first, services = kept.ctx, kept.services
    kept.say(ANSWERS[0])
    kept.again()
    second, others = kept.ctx, kept.services
    for text in ANSWERS[1:4]:
        kept.ctx, kept.services = first, services
        kept.say(text)
        kept.ctx, kept.services = second, others
        kept.say(text)
    rows = kept.rows(sa.select(SESSIONS.c.name, SESSIONS.c.turn_number).subquery())
    assert sorted(rows) == sorted([(first.session_id, 4), (second.session_id, 3)])
