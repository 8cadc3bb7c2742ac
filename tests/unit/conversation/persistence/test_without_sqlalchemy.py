"""Without the extra for a database of interviews they are in their logs, and what asks for a database is told what is missing."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from agent.config.optional_parts import install_command
from agent.conversation.background.choosing import TaskSite, lasting_backend
from agent.conversation.background.task_context import TaskKinds, TaskMeans
from agent.conversation.persistence import keeping
from agent.protocol.errors import ConfigError, IoError
from agent.recording.interview_turns import interview_of
from tests.support.kept_interview import ANSWERS, KeptInterview

MISSING = "keeping interviews in a database needs SQLAlchemy, which is not installed"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a core install is: neither is found, and what tries to import them all the same fails."""
    monkeypatch.setattr(keeping, "find_spec", lambda name: None)
    for name in ("database", "store", "tables", "task_journal", "liveness"):
        monkeypatch.setitem(sys.modules, f"agent.conversation.persistence.{name}", None)


@pytest.mark.usefixtures("bare")
def test_an_interview_goes_on_in_its_log_and_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(*ANSWERS[:2])
    session = kept.end()
    ctx = kept.again(session)
    kept.say(ANSWERS[2])
    kept.end()
    assert kept.warnings == []
    assert interview_of(ctx.recorder.path or "")[-1].last.state["turnNumber"] == 3
    kept.services.engine.app.services.bury_session(session)


@pytest.mark.usefixtures("bare")
def test_a_database_that_was_asked_for_is_missed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch, f"sqlite:///{tmp_path}/there.sqlite3")
    kept.say(*ANSWERS[:3])
    assert kept.warnings == [
        f"{MISSING}; background work ends with this process",
        f"{MISSING}; the interview goes on, and is in its log",
    ]


def test_what_a_database_has_already_is_not_forgotten_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(ANSWERS[0])
    session = kept.end()
    request.getfixturevalue("bare")
    with pytest.raises(IoError, match=MISSING):
        kept.services.engine.app.services.bury_session(session)


@pytest.mark.usefixtures("bare")
def test_a_worker_is_told_how_to_install_it(tmp_path: Path) -> None:
    site = TaskSite(chosen="auto", database=keeping.ProcessDatabase("", str(tmp_path / "x")), project_id="")
    with pytest.raises(ConfigError, match=MISSING) as raised:
        asyncio.run(lasting_backend(site, TaskKinds({}, ()), TaskMeans(folder="", complete=None, redact=None)))  # type: ignore[arg-type]
    assert raised.value.hint == install_command("interviews")
