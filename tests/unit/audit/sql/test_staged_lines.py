"""Lines are read a block at a time where all of them are as they should be, and one by one where not: the answer is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="the extra `audit` is not installed")

from agent.audit.sql import staging
from agent.audit.sql.database import LogDatabase
from agent.audit.sql.reading import wanted_for
from agent.audit.sql.sources import find_sources
from agent.audit.sql.staging import HeadReader, blocks_of
from agent.audit.sql.views import filled, views
from agent.recording import chained_lines
from tests.support.each import each

GOOD = json.dumps(
    {
        "v": 1,
        "seq": 7,
        "time": "2026-03-04T10:00:00Z",
        "session": "h",
        "goal_id": "g",
        "type": "notice",
        "text": "häfen",
    },
    ensure_ascii=False,
).encode()

ODD = [
    b'{"type": "notice"}{"type": "notice"}',
    b'{"type": "notice"} {"type": "notice"}',
    b'{"type": "notice"},{"type": "notice"}',
    b'{"type": "notice", "x":\n{"type": "notice"}}',
    b'{"type": "notice", "x": [{}\n,{}]}',
    b'{"type": "notice", "x": [[]\n[]]}',
    b'{"type": "notice", "text": "a\nb"}',
    b'{"type": "notice"}{"type": "notice"}\n{"x":\n1}',
    b'{"type": "notice"\n"x": 1}',
    b'{"type": "notice"]\n["x": 1}',
    b'{"type": "notice"}] [{"type": "notice"}',
    b'{"type": "notice"}][{"type": "goal.started"}]\r[{"type": "notice"}',
    b'[{"type": "notice"}]',
    b'{"type": "notice", "x": "\xff"}',
    b'{"type": "notice", "\xff": 1}',
    b'{"type": "notice", "x": "\\ud800"}',
    b'{"type": "notice", "text": "\\udc00"}',
    b'{"type": "notice", "x": 01}',
    b'{"type": "notice", "seq": 99999999999999999999999}',
    b'{"type": "notice", "seq": "four", "text": 1}',
    b'{"type": "notice", "time": 5, "session": []}',
    b'{"type": 5}',
    b'{"type": null}',
    b'{"seq": 1}',
    b'{"type": "notice", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}",
    b'{"type": "notice", "x": ' + b"[" * 300 + b"]" * 300 + b"}",
    b'{"type": "notice"}\r',
    b'  {"type": "notice"}',
    b"\xef\xbb\xbf" + GOOD,
    b"\x00" * 20,
    b"",
    b"null",
]
COUNTED = "SELECT type, count(*), max(seq), max(time), count(text), max(text) FROM events GROUP BY type ORDER BY type"


def answers(folder: Path, data: bytes) -> tuple[list[tuple[object, ...]], int]:
    folder.mkdir(exist_ok=True)
    (folder / "2026-03-04-h.jsonl").write_bytes(data)
    with LogDatabase(find_sources([str(folder)], default="", here="here")) as database:
        return list(database.ask(COUNTED).rows()), database.ignored()


def test_odd_lines_say_the_same_alone_and_among_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\n".join([GOOD, *(line + b"\n" + GOOD for line in ODD)])
    among = answers(tmp_path / "logs", data)
    monkeypatch.setattr(HeadReader, "many", lambda self, block: None)
    assert answers(tmp_path / "logs", data) == among
    monkeypatch.setattr(staging, "BLOCK", 50)
    assert answers(tmp_path / "logs", data) == among
    assert among[1] > len(ODD) // 2  # most of them are no events, and were counted


@each("line", ODD[:15], ids=range(15))
def test_a_block_is_not_taken_for_one_value_a_line(line: bytes) -> None:
    for columns in (["type"], ["type", "time", "seq"]):
        reader = HeadReader(wanted_for("events", filled("events", columns)))
        assert reader.many(GOOD + b"\n" + GOOD + b"\n") is not None
        for block in (line, line + b"\n", GOOD + b"\n" + line + b"\n" + GOOD + b"\n"):
            assert reader.many(block) is None


def test_a_few_keys_are_copied_and_nothing_else() -> None:
    reader = HeadReader(wanted_for("events", filled("events", ["type", "seq"])))
    assert reader.narrow
    heads = reader.many(GOOD + b"\n")
    assert heads is not None
    assert heads[0].__struct_fields__ == ("type", "seq")
    assert not HeadReader(wanted_for("events", views()["events"])).narrow


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_blocks_are_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    monkeypatch.setattr(staging, "BLOCK", 7)
    for module in (staging, chained_lines):
        monkeypatch.setattr(module, "MAX_LINE", 40)
    skipped: list[None] = []
    lines = [b"a" * length for length in (1, 5, 6, 7, 8, 40, 13, 41, 2, 400, 3, 40)]
    log = tmp_path / "log"
    log.write_bytes(b"\n".join(lines) + end)
    found = list(blocks_of(str(log), lambda: skipped.append(None)))
    assert b"".join(found) == b"\n".join(line for line in lines if len(line) <= 40) + end
    assert all(block.endswith(b"\n") for block in found[:-1])
    assert len(skipped) == 2


def test_columns_that_are_asked_alone(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "2026-03-04-h.jsonl").write_bytes(GOOD + b"\n" + GOOD + b"\n")
    with LogDatabase(find_sources([str(folder)], default="", here="here")) as database:
        for column in ("machine", "file", "session", "time", "text", "count(*)"):
            database._filled.clear()
            rows = list(database.ask(f"SELECT {column} FROM events").rows())
            assert rows == [(2,)] if column == "count(*)" else len(rows) == 2 and None not in rows[0]
