"""Rate commands where another shell than bash may run them, for which they are rated."""

from __future__ import annotations

from agent.execution.shell_dialects import UNREADABLE
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport
from agent.protocol.ports import RiskClassifier
from agent.risk.analysers import raised

RULE = "shell.other"
_READS_MORE = ("zsh", "fish", "auto")


def for_shell(shell: str, classify: RiskClassifier) -> RiskClassifier:
    """`classify` for who has zsh or fish (or asked for $SHELL): high is what bash cannot read, since the other shell would run it all
    the same, and what uses a function that earlier commands defined there and that cannot be said in bash.
    """
    if shell not in _READS_MORE:
        return classify

    def rate(command: str, context: RiskContext) -> RiskReport:
        report = classify(command, context)
        if report.parse != "ok":
            reason = "is not bash, so what it does cannot be rated, and your own shell would run it"
        elif any(UNREADABLE in finding.reason for finding in report.findings):
            reason = "runs a function that an earlier command defined in your own shell, and that cannot be rated"
        else:
            return report
        return raised(report, (Finding(rule=RULE, level=Level.HIGH, reason=reason, span=(0, len(command))),))

    return rate
