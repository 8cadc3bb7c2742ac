"""Patterns of a `--safety-policy` file held against a command. They only raise and tighten. Pure.

Each is tried on the text as it was typed and on the words of every program after expansion and unwrapping, so that quoting does not
walk around one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from agent.policy.linear_regex import LinearPattern
from agent.policy.model import PatternRule, PolicyFile
from agent.policy.reading import reading_of
from agent.protocol.decisions import Effect, Finding, RiskReport
from agent.risk.analysers import raised as with_findings

_MOST_TEXTS = 400


class Hit(Struct, frozen=True):
    """A pattern that was found: in which program's words (-1: in the text as typed), and where in the text."""

    file: PolicyFile
    rule: PatternRule
    program: int
    span: tuple[int, int]


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> LinearPattern:
    return LinearPattern(pattern)


def hits(report: RiskReport, files: Sequence[PolicyFile]) -> tuple[Hit, ...]:
    """Every pattern found in `report`, once each."""
    if not any(file.patterns for file in files):
        return ()
    texts = [" ".join(run.words) for run in report.programs[:_MOST_TEXTS]]
    found = (_hit(file, rule, report, texts) for file in files for rule in file.patterns)
    return tuple(hit for hit in found if hit is not None)


def _hit(file: PolicyFile, rule: PatternRule, report: RiskReport, texts: list[str]) -> Hit | None:
    pattern = _compiled(rule.pattern)
    excused = False
    for index, text in enumerate(texts):
        if pattern.search(text) is None:
            continue
        run = report.programs[index]
        if run.whole and any(reading_of(run.words).certainly(flag) for flag in rule.allowed_flags):
            excused = True
            continue
        return Hit(file, rule, index, run.span)
    if (
        excused and not report.cut and len(report.programs) <= _MOST_TEXTS
    ):  # the text as typed holds it because this program does, with an option that makes it good
        return None
    span = pattern.search(report.command)
    return None if span is None else Hit(file, rule, -1, span)


def findings(report: RiskReport, files: Sequence[PolicyFile]) -> Iterator[Finding]:
    """What the patterns found, as findings `policy.<name>`."""
    for hit in hits(report, files):
        rule = hit.rule
        reason = rule.description or f"matches the pattern {rule.name} of a safety policy"
        effect = Effect(kind="policy", reversible=True)
        yield Finding(
            rule=f"policy.{rule.name}",
            level=rule.level,
            reason=reason,
            span=hit.span,
            effect=effect,
            program=hit.program,
        )


def raised(report: RiskReport, files: Sequence[PolicyFile]) -> RiskReport:
    """`report` with the findings of the patterns. Its level never falls, and nothing of it is lost; twice is as once."""
    return with_findings(report, findings(report, files))
