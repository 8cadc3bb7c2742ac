"""Logs that mean harm: the index takes what there is to be had, and stays whole."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.queries import figures, listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import search
from agent.recording.bounds import MAX_LINE
from agent.recording.index import rows
from agent.recording.index.access import LogIndex
from agent.recording.index.gather import Gatherer
from agent.recording.index.rows import _free_row, write_goal, write_session
from agent.recording.index.values import COMMANDS_KEPT, OUTPUTS_KEPT, Session
from agent.recording.line import Line, read_line
from tests.support.tries import tries

TIME = "2026-11-22T07:49:31.552971Z"


def line(type: str, **fields: object) -> bytes:
    return json.dumps(
        {"v": 1, "seq": 1, "time": TIME, "session": "a", "run": "", "goal_id": "g", "type": type, **fields}
    ).encode()


def log(folder: Path, *lines: bytes, name: str = "2026-11-22-a.jsonl") -> Path:
    folder.mkdir(exist_ok=True, mode=0o700)
    path = folder / name
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    return path


def everything(folder: Path) -> list[dict[str, object]]:
    """All questions, each answered; the goals."""
    with LogIndex(str(folder), "") as index:
        for question in (
            lambda found: listing.sessions(found, str(folder), Conditions()),
            lambda found: search(found, str(folder), ("a",), Conditions()),
            lambda found: figures.figures(found, Conditions()),
            figures.past,
        ):
            index.ask(question)
        assert index.place
        index.ask(lambda found: found.connection.execute("INSERT INTO texts (texts) VALUES ('integrity-check')"))
        return index.ask(lambda found: listing.goals(found, str(folder), Conditions()))


BAD = {
    "huge numbers": line("goal.finished", exit_code=10**400, duration=1, steps=-(10**30)),
    "infinite": line("goal.finished", duration=0).replace(b'"duration": 0', b'"duration": 1e400'),
    "deep": b'{"type":"goal.started","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "NUL": line("goal.started", goal="a\x00b", cwd="\x00"),
    "separator": line("command.proposed", command_id="g.1", command="a\x1eb\x1e"),
    "half a character": rb'{"type":"goal.started","goal":"\ud800","time":"' + TIME.encode() + b'"}',
    "no UTF-8": b'{"type":"goal.started","goal":"\xff\xfe"}',
    "no object": b"[1, 2]",
    "nothing": b"",
    "other types": line("goal.started", goal={"a": 1}, goal_id=5, cwd=[], private="yes", seq="x", time=7),
    "other usage": line("goal.finished", usage={"input_tokens": "many", "cost": "dear"}, status=None),
    "negative": line(
        "goal.finished", duration=-5.0, usage={"input_tokens": -(2**60), "cost": -1.0}, status="completed"
    ),
    "other result": line("command.finished", command_id="g.1", exit_code=2**70, result={"stdout": 5}),
    "no command": line("command.output", command_id="none", stream="stdout", data=5, offset=0),
    "year 9999": line("goal.started", goal="late").replace(TIME.encode(), b"9999-12-31T23:59:59.999999Z"),
    "year 0": line("goal.started", goal="early").replace(TIME.encode(), b"0000-00-00T00:00:00.000000Z"),
    "path as id": line("session.started", session_id="../../etc/passwd", cwd="/" * 5000),
    "unknown": line("something.new", goal="x", data={"a": [1]}),
    "escapes": line("goal.started", goal="\x1b]0;x\x07\u202e"),
}


@pytest.mark.few(9)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_line_does_not_hide_the_others(tmp_path: Path, bad: bytes) -> None:
    good = [
        line("goal.started", goal="look around"),
        line("command.proposed", command_id="g.1", command="ls"),
        line("command.confirmed", command_id="g.1", decision="approved", by="person", command="ls"),
        line("command.output", command_id="g.1", stream="stdout", data="a.txt", offset=0),
    ]
    last = [
        line("command.finished", command_id="g.1", exit_code=3, result={}),
        line("goal.finished", status="failed", exit_code=1),
        line("goal.started", goal="the next one", goal_id="h"),
    ]
    log(tmp_path / "s", *good, bad, *last)
    goals = [row["goal"] for row in everything(tmp_path / "s")]
    assert "look around" in goals and "the next one" in goals


def test_lines_that_never_end_and_lines_that_are_too_long(tmp_path: Path) -> None:
    path = log(tmp_path / "s", line("goal.started", goal="before"))
    with open(path, "ab") as file:
        file.write(b'{"type":"goal.started","goal":"' + b"x" * (MAX_LINE + 5) + b'"}\n')
        file.write(line("goal.started", goal="after") + b"\n")
        file.write(b'{"torn":"' + b"y" * 100)
    assert sorted(row["goal"] for row in everything(tmp_path / "s")) == ["after", "before"]  # type: ignore[type-var]


def test_what_is_kept_of_one_goal_is_bounded(tmp_path: Path) -> None:
    lines = [line("goal.started", goal="g" * 10**6)]
    for number in range(COMMANDS_KEPT + 100):
        lines.append(line("command.proposed", command_id=f"g.{number}", command="c" * 20_000))
        lines += [line("command.output", command_id=f"g.{number}", stream="stdout", data="o" * 5_000 + "\n", offset=0)]
    lines += [line("assistant.message", text="m" * 10**5)] * 10
    log(tmp_path / "s", *lines)
    (row,) = everything(tmp_path / "s")
    assert row["commands"] == COMMANDS_KEPT + 100
    with LogIndex(str(tmp_path / "s"), "") as index:
        sizes = "SELECT length(goal), length(message), length(output) FROM texts"
        goal, message, output = index.ask(lambda found: found.connection.execute(sizes).fetchone())
    assert goal == 4_000 and message <= 8_000 and output <= OUTPUTS_KEPT + COMMANDS_KEPT


def test_a_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    parts = ["begins here\n", *(f"line {number}\n" for number in range(2_000)), "ends there\n"]
    lines = [line("goal.started", goal="g"), line("command.proposed", command_id="c", command="make")]
    lines += [line("command.output", command_id="c", stream="stdout", data=part, offset=0) for part in parts]
    log(tmp_path / "s", *lines)
    with LogIndex(str(tmp_path / "s"), "") as index:
        found = [
            len(index.ask(lambda d, w=w: search(d, "", (w,), Conditions())).hits) for w in ("begins", "there", "1000")
        ]  # type: ignore[misc]
    assert found == [1, 1, 0]


def test_names_that_are_no_logs_are_not_read(tmp_path: Path) -> None:
    log(tmp_path / "s", line("goal.started", goal="yes"))
    for name in ("x.jsonl", "2026-11-22-.jsonl", "2026-11-22-a~0.jsonl", "2026-11-22-b.jsonl.bak"):
        log(tmp_path / "s", line("goal.started", goal="no"), name=name)
    (tmp_path / "s" / "2026-11-22-link.jsonl").symlink_to(tmp_path / "s" / "x.jsonl")
    (tmp_path / "s" / "2026-11-22-dir.jsonl").mkdir()
    assert [row["goal"] for row in everything(tmp_path / "s")] == ["yes"]


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(Line.__struct_fields__), inner, max_size=4)
    ),
    max_leaves=4,
)
_types = st.sampled_from(["goal.started", "goal.finished", "command.proposed", "command.confirmed", "command.output",
                          "command.finished", "command.rated", "planner.finished", "session.pruned", "session.finished"])  # fmt: skip


@settings(max_examples=tries(40), deadline=None)
@given(
    st.lists(
        st.tuples(_types, st.dictionaries(st.sampled_from(Line.__struct_fields__), _anything, max_size=6)), max_size=8
    )
)
def test_any_fields_of_any_type(lines: list[tuple[str, dict[str, object]]]) -> None:
    from agent.recording.index.database import in_memory

    gatherer = Gatherer(Session(session="a", date="2026-11-22"))
    for type_, fields in lines:
        gatherer.take(read_line(json.dumps({**fields, "type": type_, "goal_id": "g", "command_id": "c"}).encode()))
    database = in_memory()
    try:
        for goal in gatherer.done:
            write_goal(database.connection, 1, goal)
        write_session(database.connection, 1, "a", gatherer.session)
    except sqlite3.Error as error:
        raise AssertionError(lines) from error
    finally:
        database.close()


def test_goals_of_one_time_are_not_each_looked_past(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE goals (id INTEGER PRIMARY KEY)")
    monkeypatch.setattr(
        rows, "_taken", [id(connection), 5, 6]
    )  # what a connection left that is gone, and had the same id
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    for _ in range(300):
        connection.execute("INSERT INTO goals VALUES (?)", (_free_row(connection, 5),))
    assert connection.execute("SELECT min(id), max(id), count(*) FROM goals").fetchone() == (5, 304, 300)
    assert len(asked) < 1000
