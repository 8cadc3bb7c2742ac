"""Attacks as they are known: every line is at least what it is listed with, and looking around stays low."""

from __future__ import annotations

import json
from pathlib import Path

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

ROWS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "risk_attacks.jsonl").read_text(encoding="utf-8").splitlines()
]
KINDS = sorted({row["kind"] for row in ROWS})


@each("kind", KINDS)
def test_every_attack_is_at_least_what_it_is_listed_with(kind: str) -> None:
    wrong = []
    for row in ROWS:
        if row["kind"] != kind:
            continue
        report = classify(row["command"])
        least = Level(row["least"])
        too_low = report.level.rank < least.rank or (least is Level.LOW and report.level is not Level.LOW)
        if too_low:
            wrong.append(
                (row["command"][:100], row["least"], report.level.value, [f.rule for f in report.findings][:4])
            )
    assert wrong == []


def test_there_are_attacks_of_every_kind_and_none_twice() -> None:
    assert KINDS == [
        "credentials", "discovery", "evasion", "exfiltration", "impact", "persistence", "privilege", "reverse-shell",
    ]  # fmt: skip
    commands = [row["command"] for row in ROWS]
    assert len(commands) == len(set(commands)) >= 700


@each("kind", ["reverse-shell", "exfiltration", "privilege"])
def test_what_is_never_low_is_not_low_through_wrappers_either(kind: str) -> None:
    low = []
    for row in ROWS:
        if row["kind"] != kind or "'" in row["command"] or "\n" in row["command"] or "<<<" in row["command"]:
            continue
        for wrapped in (
            f"bash -c '{row['command']}'",
            f"({row['command']})",
            f"true && {row['command']}",
            f"x=1; {row['command']}",
        ):
            if classify(wrapped).level is Level.LOW:
                low.append(wrapped)
    assert low == []
