"""The rating where commands may be run by another shell than bash, for which they are rated."""

from __future__ import annotations

from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport
from agent.protocol.ports import RiskClassifier
from agent.risk.analysers import raised

RULE = "shell.other"


def for_shell(shell: str, classify: RiskClassifier) -> RiskClassifier:
    """`classify`, where what bash cannot read is high: `shell` (zsh, fish, sh) would run it all the same."""

    def rate(command: str, context: RiskContext) -> RiskReport:
        report = classify(command, context)
        if report.parse == "ok":
            return report
        reason = f"is not bash, so it cannot be rated; {shell} would run it"
        return raised(report, (Finding(rule=RULE, level=Level.HIGH, reason=reason, span=(0, len(command))),))

    return rate
