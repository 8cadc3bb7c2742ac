"""What is removed from logs, or from the folder of logs, is not in the database any more."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.conversation.persistence import keeping
from agent.conversation.persistence.tables import CHECKPOINTS, EXTRACTIONS, SESSIONS, TASK_STEPS, TASKS, uuid_of
from agent.frontends.sessions import prune, scrub
from agent.protocol.errors import IoError
from tests.support.kept_interview import ANSWERS, KeptInterview

SECRET = "marmalade-sandwich-17"


def names(kept: KeptInterview) -> list[str]:
    return sorted(row.name for row in kept.rows(SESSIONS))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> KeptInterview:
    return KeptInterview(tmp_path, monkeypatch, url)


def test_a_session_that_is_deleted(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:2])
    gone = kept.end()
    kept.again()
    kept.say(ANSWERS[0])
    stays = kept.end()
    kept.services.engine.app.services.bury_session(gone)
    assert names(kept) == [stays]
    assert {row.session_id for row in kept.rows(CHECKPOINTS)} == {kept.rows(SESSIONS)[0].id}
    assert len(kept.rows(EXTRACTIONS)) == 1


@pytest.mark.thorough
def test_background_work_goes_with_its_session(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:3])  # a survey of the folder begins by itself
    session = kept.end()
    assert {row.session_id for row in kept.rows(TASKS)} == {uuid_of("session", session)}
    kept.services.engine.app.services.bury_session(session)
    assert kept.rows(TASKS) == kept.rows(TASK_STEPS) == []


@pytest.mark.thorough
def test_sessions_that_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(*ANSWERS[:3])
    kept.end()
    options: dict[str, Any] = {"older_than": None, "keep_size": 1, "status": None, "tombstones_older_than": None}
    given = argparse.Namespace(**options, dry_run=False, yes=True, force=False)
    assert asyncio.run(prune.run(kept.services, given)) == 0
    assert names(kept) == []
    assert kept.rows(EXTRACTIONS) == kept.rows(CHECKPOINTS) == []


def test_a_secret_that_is_scrubbed_goes_from_branches_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(f"We lose {SECRET} boxes", *ANSWERS[1:3])
    session = kept.end()
    from agent.frontends.interview.earlier import earlier

    found = earlier(kept.services, session, 2, branch=True)
    kept.ctx = kept.services.open_session("cli", None, origin=found.origin, profile="interview")
    kept.say("In a branch")
    branch = kept.end()
    assert names(kept) == sorted([session, branch])
    assert kept.everything.count(SECRET) > 2
    monkeypatch.setenv("NEW_SECRET", SECRET)
    kept.again()
    other = kept.end()
    given = argparse.Namespace(
        sessions=[session], value_from_env=["NEW_SECRET"], stdin=False, dry_run=False, yes=True, force=False
    )
    assert asyncio.run(scrub.run(kept.services, given)) == 0
    assert SECRET not in kept.everything
    beside = list(kept.path.parent.glob(f"{kept.path.name}*"))  # another process still has it open: its log is there
    assert kept.path in beside
    assert not [each.name for each in beside if SECRET.encode() in each.read_bytes()]
    kept.again(session)
    kept.say("we use a whiteboard")  # the log gives what it has now
    assert SECRET not in kept.everything
    assert [(row.name, row.turn_number) for row in kept.rows(SESSIONS)] == [(session, 4)]
    assert other


def test_a_database_that_cannot_be_reached_keeps_the_log_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(ANSWERS[0])
    session = kept.end()
    log = next((tmp_path / "logs").glob(f"*{session}*")).read_bytes()
    keeping.database_of.cache_clear()  # as another process does it
    kept.path.write_bytes(b"no database " * 100)
    for name in ("-wal", "-shm"):
        Path(f"{kept.path}{name}").unlink(missing_ok=True)
    with pytest.raises(IoError, match="no log was changed"):
        kept.services.engine.app.services.bury_session(session)
    assert next((tmp_path / "logs").glob(f"*{session}*")).read_bytes() == log
