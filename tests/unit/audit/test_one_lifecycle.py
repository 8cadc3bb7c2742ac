"""What became of a command is the same for whoever tells it: history, story, index, import, SQL, replay and judge."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.importing.project import import_sessions
from agent.audit.importing.store import open_store
from agent.audit.reclassify.texts import Trouble, read_texts
from agent.audit.replay.steps import steps
from agent.audit.sql.database import LogDatabase
from agent.audit.sql.sources import find_sources
from agent.audit.story.goal import stories
from agent.audit.story.model import CommandStory, GoalStory
from agent.protocol.decisions import Level
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.records import encode, event_type
from agent.recording.fold import goals
from agent.recording.index.access import LogIndex
from agent.recording.lifecycle import Lifecycle
from agent.recording.reader import list_sessions, read_records
from tests.support.pictured_session import CWD, Session
from tests.support.tries import tries

KEPT = Path(__file__).parents[2] / "replays"
LIFE = ("command.rated", "command.confirmed", "command.started", "command.finished")
NO_PERSON = ("refused", "dry-run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a command for every fate."""
    made = Session()
    made.begin_goal("all that can become of a command")
    _run(made, "ls", 0)
    _run(made, "false", 1)
    key = made.propose("rm -rf build", Level.HIGH)
    made.rate(key, "rm -r build", Level.MEDIUM, stage="edited")
    made.confirm(key, "rm -r build", "edited")
    made.run(key, "rm -r build", undo="u1")
    for decision in ("skipped", "declined", "cancelled", "remark", "regenerate", *NO_PERSON):
        by = "policy" if decision in NO_PERSON else "person"
        made.confirm(made.propose(f"{decision} this"), "", decision, by=by, remark="a remark")
    made.confirm(made.propose("sudo reboot", Level.HIGH), "sudo reboot", "declined")
    made.propose("never decided")
    made.confirm(made.propose("confirmed, then the log ends"), "confirmed, then the log ends")
    for again in (False, True):
        _conflict(made, f"touch {again}", again=again)
    key = made.propose("sleep 99")
    made.confirm(key, "sleep 99")
    made.add(CommandStarted(command_id=key, command="sleep 99", cwd=CWD))
    path = tmp_path_factory.mktemp("logs")
    (path / "2026-03-14-pictured-1.jsonl").write_bytes(b"".join(map(encode, made.records)))
    return path


def _run(made: Session, command: str, code: int) -> None:
    key = made.propose(command)
    made.confirm(key, command, by="approve-mode")
    made.run(key, command, code=code)


def _conflict(made: Session, command: str, *, again: bool) -> None:
    key = made.propose(command)
    made.confirm(key, command)
    made.add(CommandStarted(command_id=key, command=command, cwd=CWD, via="rehearsal"))
    gone = ExecutionResult(exit_code=126, stderr=CapturedStream(tail="files were changed"))
    made.add(CommandFinished(command_id=key, exit_code=126, result=gone, conflict=True))
    if again:
        made.confirm(key, command)
        made.run(key, command)


Fate = tuple[str, str, int | None]
"""Proposed, the text that ran ("" for none), exit code (None: it did not end)."""


def told_by_story(folder: Path) -> list[Fate]:
    items = stories(read_records(list_sessions(str(folder))[0]))
    told = [command for goal in items if isinstance(goal, GoalStory) for command in goal.commands]
    return [(each.proposed, each.run if each.outcome == "ran" else "", each.exit_code) for each in told]


def told_by_history(folder: Path) -> list[Fate]:
    (goal,) = goals(read_records(list_sessions(str(folder))[0]))
    return [(each.proposed, each.run if each.outcome == "ran" else "", each.exit_code) for each in goal.commands]


def told_by_index(folder: Path) -> list[Fate]:
    with LogIndex(str(folder), "") as index:
        query = "SELECT proposed, run, exit_code FROM commands ORDER BY place"
        return index.ask(lambda database: database.connection.execute(query).fetchall())


def told_by_import(folder: Path, path: Path) -> list[Fate]:
    store = open_store(str(path))
    import_sessions(store, [(session, "here") for session in list_sessions(str(folder))], [str(folder)])
    store.close()
    return (
        sqlite3.connect(path)
        .execute("SELECT proposed, coalesce(run, ''), exit_code FROM commands ORDER BY time")
        .fetchall()
    )


def told_by_sql(folder: Path) -> list[Fate]:
    pytest.importorskip("duckdb", reason="the extra `audit` is not installed")
    with LogDatabase(find_sources([str(folder)], default="", here="here")) as database:
        return list(database.ask("SELECT proposed, coalesce(run, ''), exit_code FROM commands ORDER BY time").rows())


def test_every_reader_tells_the_same(folder: Path, tmp_path: Path) -> None:
    told = told_by_story(folder)
    assert ("rm -rf build", "rm -r build", 0) in told and ("touch True", "touch True", 0) in told
    assert ("touch False", "", None) in told and ("sleep 99", "sleep 99", None) in told
    assert told == told_by_history(folder)
    assert told == told_by_index(folder)
    met = [fate if fate[0] != "confirmed, then the log ends" else (fate[0], "", None) for fate in told]
    assert told_by_import(folder, tmp_path / "audit.db") == met  # tables have only what was started
    assert told_by_sql(folder) == met


def test_what_is_run_again_and_what_is_judged(folder: Path) -> None:
    told = told_by_story(folder)
    session = list_sessions(str(folder))[0]
    again = [step.command for step in steps(read_records(session)) if not step.left_out]
    assert again == [run for _, run, code in told if code is not None]
    judged: dict[str, Any] = {text.command_id: text.then for text in read_texts(session.files, Trouble())}
    commands = [
        each for goal in stories(read_records(session)) if isinstance(goal, GoalStory) for each in goal.commands
    ]
    for command in commands:
        assert (isinstance(command, CommandStory) and command.last_decision is None) or judged[command.command_id].by
        assert judged[command.command_id].ran == (command.ran or command.proposed == "touch False")


_LEVELS = st.sampled_from(list(Level))
_DECISIONS = st.sampled_from(
    ("approved", "edited", "skipped", "declined", "cancelled", "remark", "regenerate", *NO_PERSON)
)


@st.composite
def _session(draw: st.DrawFn) -> Session:
    """Goals whose commands come, go on and break off in any order that a log can have, and some that none should have."""
    made = Session()
    for number in range(draw(st.integers(1, 3))):
        made.begin_goal(f"goal {number}")
        keys: list[str] = []
        for step in draw(st.lists(st.integers(0, 6), min_size=1, max_size=12)):
            if step == 0 or not keys:
                keys.append(made.propose(draw(st.sampled_from(("ls", "rm -r a", "sudo x"))), draw(_LEVELS)))
                continue
            key, text = keys[-1], draw(st.sampled_from(("ls", "rm -r b", "rm a")))
            if step == 1:
                made.rate(key, text, draw(_LEVELS), stage="edited")
            elif step == 2:
                decision = draw(_DECISIONS)
                made.confirm(key, text if decision in ("approved", "edited", "declined") else "", decision)
            elif step == 3:
                made.add(
                    CommandStarted(command_id=key, command=text, cwd=CWD, via=draw(st.sampled_from(("", "rehearsal"))))
                )
            elif step == 4:
                result = ExecutionResult(
                    exit_code=draw(st.integers(0, 3)), interrupted=draw(st.booleans()), duration=1.5
                )
                conflict = draw(st.booleans())
                made.add(
                    CommandFinished(
                        command_id=key, exit_code=result.exit_code, result=result, conflict=conflict, undo_id="u"
                    )
                )
            else:
                made.run(key, text, code=step)
    return made


@settings(max_examples=tries(80, 6), deadline=None)
@given(_session())
def test_whatever_comes_in_whatever_order_sql_tells_what_the_lifecycle_tells(made: Session) -> None:
    """Row by row and column by column: what is in the views is the fold's, also where a log makes no sense."""
    pytest.importorskip("duckdb", reason="the extra `audit` is not installed")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "2026-03-14-pictured-1.jsonl")
        log.write_bytes(b"".join(map(encode, made.records)))
        _sql_tells_what_the_fold_tells(log)


@pytest.mark.few(2)
@pytest.mark.parametrize("log", sorted(KEPT.glob("*.jsonl")), ids=lambda log: log.stem)
def test_of_every_log_that_is_kept_sql_tells_what_the_fold_tells(log: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra `audit` is not installed")
    _sql_tells_what_the_fold_tells(log)


def _sql_tells_what_the_fold_tells(log: Path) -> None:
    """The commands against their one lifecycle, the goals against the story."""
    lives: list[Lifecycle] = []
    known: dict[str, Lifecycle] = {}  # the id of a file's change is its path, which comes again
    for record in read_records(str(log)):
        kind, event = event_type(record.event), record.event
        if isinstance(event, CommandProposed):
            known[event.command_id] = Lifecycle.of(event, record.time)
            lives.append(known[event.command_id])
        elif kind in LIFE:
            known[event.command_id].take(kind, event, record.time)  # type: ignore[union-attr]  # each has one
    with LogDatabase(find_sources([str(log)], default="", here="here")) as database:
        columns = "command_id, proposed, run, edited, risk, decision, via, cwd, exit_code, interrupted, undo_id"
        rows = Counter(database.ask(f"SELECT {columns} FROM commands").rows())
        told = list(database.ask("SELECT goal_id, status, exit_code, ran FROM goals ORDER BY began").rows())
    assert rows == Counter((each.command_id, *_as_row(each)) for each in lives)
    goals_told = [item for item in stories(read_records(str(log))) if isinstance(item, GoalStory)]
    assert [row[:2] for row in told] == [(goal.goal_id, goal.status) for goal in goals_told]
    assert [row[2] for row in told] == [goal.exit_code if goal.finished else None for goal in goals_told]
    assert sum(row[3] for row in told) == sum(bool(each.started) for each in lives)


def _as_row(life: Lifecycle) -> tuple[object, ...]:
    ran = bool(life.started)
    return (
        life.proposed, life.run if ran else None, ran and life.edited, life.level or None, life.decision or None,
        life.via if ran else None, life.cwd or None, life.exit_code, life.interrupted if life.finished else None, life.undo_id or None,
    )  # fmt: skip
