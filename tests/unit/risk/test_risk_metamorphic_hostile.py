"""Dangerous commands written so that they do not look it: `tests/risk_hostile.jsonl`, by the way they hide."""

from __future__ import annotations

import json
from pathlib import Path

from agent.risk.classifier import classify

ROWS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "risk_hostile.jsonl").read_text(encoding="utf-8").splitlines()
]
WANTED = 0.98


def test_nearly_all_are_high_and_none_is_low() -> None:
    levels = {row["command"]: classify(row["command"]).level.value for row in ROWS}
    missed = [(level, command) for command, level in levels.items() if level != "high"]
    assert len(ROWS) >= 400
    assert len(missed) <= (1 - WANTED) * len(ROWS), missed


def test_each_way_of_hiding_is_there_often() -> None:
    kinds = [row["kind"] for row in ROWS]
    assert all(kinds.count(kind) >= 15 for kind in set(kinds))
    assert len({row["command"] for row in ROWS}) == len(ROWS)
