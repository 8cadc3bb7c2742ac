"""Judge beside the classifier: raise a report, never lower it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from agent.protocol.decisions import Finding, Level, Opinion, RiskReport, worst
from agent.text.visible import make_visible

_MAX_REASON = 200  # characters


def raised(report: RiskReport, findings: Iterable[Finding]) -> RiskReport:
    """`report` with more findings, worst first. Its level never falls, nothing of it is lost, and twice is as once."""
    known = {(finding.rule, finding.span) for finding in report.findings}
    new = [finding for finding in findings if (finding.rule, finding.span) not in known]
    if not new:
        return report
    together = sorted((*report.findings, *new), key=lambda finding: -finding.level.rank)
    level = worst((report.level, *(finding.level for finding in new)))
    return replace(report, level=level, findings=tuple(together))


def opinion_findings(opinion: Opinion | None, command: str) -> tuple[Finding, ...]:
    """Give the planner's own warning as a finding about the whole command. That it sees no danger says nothing."""
    if opinion is None or opinion.level is Level.LOW:
        return ()
    reason = make_visible(" ".join(opinion.reason.split()))
    if len(reason) > _MAX_REASON:
        reason = reason[: _MAX_REASON - 1] + "…"
    finding = Finding(
        rule="opinion.planner",
        level=opinion.level,
        reason=f"the planner itself calls this {opinion.level.value}" + (f": {reason}" if reason else ""),
        span=(0, len(command)),
    )
    return (finding,)
