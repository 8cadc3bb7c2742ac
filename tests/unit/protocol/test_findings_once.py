"""Findings that say the same."""

from __future__ import annotations

from agent.protocol.decisions import Finding, Level, each_once
from agent.risk.classifier import classify
from agent.risk.explain.report import explain


def found(reason: str, span: tuple[int, int], level: Level = Level.HIGH) -> Finding:
    return Finding(rule="r", level=level, reason=reason, span=span)


def test_a_reason_is_given_once_by_the_worst_of_them() -> None:
    worst, other, same = found("a", (0, 4)), found("b", (0, 4)), found("a", (2, 9), Level.MEDIUM)
    assert each_once((worst, other, same)) == [worst, other]


def test_by_place_what_stands_apart_is_told_apart() -> None:
    whole, within, apart = found("a", (0, 4)), found("a", (2, 3)), found("a", (4, 6))
    assert each_once((whole, within, apart), places=True) == [whole, apart]


def test_two_rules_that_find_one_thing_explain_it_once() -> None:
    report = classify("less '+!sh /tmp/x'")
    reasons = [finding.reason for finding in report.findings]
    assert len(set(reasons)) < len(reasons), "the rating keeps both: rules of a policy may be about either"
    told = explain(report)
    assert [told.count(reason) for reason in set(reasons)] == [1] * len(set(reasons))
