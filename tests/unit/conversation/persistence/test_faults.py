"""Faults as they really happen: a server that goes away, a disk that is full, a process that is killed, several that begin at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from agent.conversation.persistence import database as module
from agent.conversation.persistence.tables import CHECKPOINTS, REVISIONS, SESSIONS, VERSION_TABLE
from agent.recording.interview_turns import interview_of
from tests.support.kept_interview import ANSWERS, KeptInterview
from tests.support.postgres_server import NoServer, restartable_server


def states(kept: KeptInterview) -> dict[int, Any]:
    return {row.at_turn: row.state_snapshot for row in kept.rows(CHECKPOINTS)}


def in_log(kept: KeptInterview) -> dict[int, Any]:
    assert kept.ctx.recorder.path
    [leg] = interview_of(kept.ctx.recorder.path)
    return {each.turn: each.state for each in leg.turns}


@pytest.mark.thorough
def test_a_server_that_goes_away_in_the_middle_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    try:
        with restartable_server() as server:
            kept = KeptInterview(tmp_path, monkeypatch, server.url)
            kept.say(ANSWERS[0])
            server.stop()
            kept.say(*ANSWERS[1:3])
            server.start()
            kept.say(ANSWERS[3])
            assert kept.persisted == ["done", "failed", "failed", "done"]
            assert len(kept.warnings) == 2
            assert "sesame" not in "".join(kept.warnings)
            assert states(kept) == in_log(kept)
    except NoServer as error:
        pytest.skip(f"needs postgres: {error}")


@pytest.mark.thorough
def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.say(ANSWERS[0])
    plain = module._connected

    def small(path: str) -> sqlite3.Connection:
        connection = plain(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    session = kept.end()
    with sqlite3.connect(kept.path) as connection:
        connection.execute("VACUUM")  # no page is left over
    with monkeypatch.context() as patch:
        patch.setattr(module, "_connected", small)
        kept.again(session)
        kept.say(*ANSWERS[1:3])
        assert kept.persisted == ["done", "failed", "failed"]
        assert len(kept.warnings) == 1
        assert "full" in kept.warnings[0]
    kept.end()
    kept.again(session)
    kept.say(ANSWERS[3])
    assert kept.persisted[-1] == "done"
    assert states(kept) == in_log(kept)


_KILLED = """
import os, signal, sys
from agent.conversation.persistence import store
plain, turns = store._checkpoint, []
def checkpoint(connection, key, turn):
    plain(connection, key, turn)
    if turn.turn == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # after the log's record, in the middle of the transaction
store._checkpoint = checkpoint
from agent.cli.entry import main
sys.argv = ["agent-shell", "interview", "--planner", "offline", "--session-dir", sys.argv[1]]
main()
"""


@pytest.mark.thorough
def test_a_process_that_is_killed_in_the_middle_of_the_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    kept.end()
    for each in (tmp_path / "logs").iterdir():
        each.unlink()
    said = "\n".join(ANSWERS[:3])
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path / "logs")],
        input=said, text=True, capture_output=True, timeout=60, cwd=kept.base / "work",
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    [row] = kept.rows(SESSIONS)
    assert (row.turn_number, max(states(kept))) == (1, 1)  # nothing of what was not committed
    kept.again(row.name)
    assert kept.ctx.interview["turnNumber"] == 2  # the log counts
    kept.say(ANSWERS[2])
    assert states(kept) == in_log(kept)
    assert max(states(kept)) == 3


_OPENED = """
import sys
from agent.conversation.persistence.database import open_database
sys.stdin.readline()
open_database(sys.argv[1], "").close()
"""


@pytest.mark.thorough
def test_several_processes_make_the_tables_at_once(url: str) -> None:
    opening = [
        subprocess.Popen(
            [sys.executable, "-c", _OPENED, url], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
        )
        for _ in range(4)
    ]
    for each in opening:
        assert each.stdin
        each.stdin.write(b"\n")
        each.stdin.flush()
    told = [each.communicate(timeout=60)[1] for each in opening]
    assert [each.returncode for each in opening] == [0] * 4, told
    database = module.open_database(url, "")
    with database.reading() as connection:
        assert connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalars().all() == [REVISIONS[-1]]
        assert sa.inspect(connection).has_table("eng_handoffs")
    database.close()
