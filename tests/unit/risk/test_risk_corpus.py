"""Every command of our own corpus gets exactly the level it is listed with."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from agent.risk.classifier import classify
from tests.support.each import each

CORPUS = Path(__file__).resolve().parents[2] / "risk_corpus.jsonl"
ROWS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
rated = cache(classify)


@pytest.mark.covers("S4-15")
@each("kind", sorted({row["kind"] for row in ROWS}))
def test_levels(kind: str) -> None:
    wrong = []
    for row in ROWS:
        if row["kind"] == kind:
            report = rated(row["command"])
            if report.level != row["level"]:
                wrong.append(
                    (row["command"][:100], row["level"], report.level.value, [f.rule for f in report.findings])
                )
    assert wrong == []


def test_findings_point_into_the_text_and_are_ordered() -> None:
    ranks = {"high": 0, "medium": 1, "low": 2}
    for row in ROWS:
        report = rated(row["command"])
        levels = [ranks[finding.level] for finding in report.findings]
        assert levels == sorted(levels)
        assert report.level == (report.findings[0].level if report.findings else "low")
        for finding in report.findings:
            start, end = finding.span
            assert 0 <= start <= end <= len(row["command"]), (row["command"][:80], finding)
            assert finding.reason
            assert "{" not in finding.rule
            assert "\0" not in finding.reason


def test_the_readme_s_json_example() -> None:
    report = classify("rm -rf build")
    (finding,) = report.findings
    assert (report.level, report.parse, finding.rule, finding.span) == ("medium", "ok", "delete.recursive", (0, 12))
    effect = finding.effect
    assert effect is not None
    assert (effect.kind, effect.scope, effect.targets, effect.reversible) == ("delete", "workspace", ("build",), False)


def test_spans_point_at_the_part_that_matters() -> None:
    command = "ls -la && rm -rf ~/x | cat"
    spans = {command[f.span[0] : f.span[1]] for f in classify(command).findings}
    assert spans == {"rm -rf ~/x"}
    command = "bash -c 'ls; rm -rf /etc'"
    spans = {command[f.span[0] : f.span[1]] for f in classify(command).findings}
    assert spans == {"rm -rf /etc"}
    command = "echo ä ✓; rm -rf /etc"
    spans = {command[f.span[0] : f.span[1]] for f in classify(command).findings}
    assert spans == {"rm -rf /etc"}
