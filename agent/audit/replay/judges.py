"""Today's rating and policy, held against what was recorded: what the log cannot tell is taken as it was decided then."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agent.audit.replay.replies import LABEL
from agent.audit.replay.tape import Tape
from agent.policy.model import Policy
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict, VerdictAction
from agent.protocol.events import CommandRated
from agent.protocol.ports import RiskClassifier
from agent.protocol.requests import Approval
from agent.risk.analysers import raised

Decide = Callable[[RiskReport, Approval, str, Policy], Verdict]
_STRICTNESS: tuple[VerdictAction, ...] = ("allow", "ask", "type", "refuse")
_OF_FILES = ("policy-error", "policy.failed")
_NO_POLICY = Policy()


class TodaysJudges:
    """`classify` and `decide` are today's. Policy files are not in a log, so that what one of them said then is said again."""

    def __init__(self, tape: Tape, classify: RiskClassifier, decide: Decide) -> None:
        self._tape = tape
        self._classify = classify
        self._decide = decide

    def classify(self, command: str, context: RiskContext) -> RiskReport:
        """Today's rating; the recorded one of a text in which labels stand for secrets, and of one whose surroundings were not kept."""
        then = self._tape.rating_ahead()
        if then is not None and not is_comparable(then):
            return replace(then.report, command=command)
        report = self._classify(command, context)
        return (
            report
            if then is None
            else raised(report, (each for each in then.report.findings if _is_not_the_classifiers(each)))
        )

    def decide(self, report: RiskReport, approval: Approval, origin: str, policy: Policy) -> Verdict:
        """Today's verdict without policy files, or the recorded one where a file's rule decided then and would still count."""
        then = self._tape.verdict_ahead()
        if then is not None and LABEL in report.command and then.rule not in ("length", "confine"):
            return then
        now = self._decide(report, approval, origin, _NO_POLICY)
        if then is None or not is_of_a_file(then):
            return now
        if then.action == "allow":
            counts = now.action == "ask" and now.rule.startswith("level-") and report.level is not Level.HIGH
            return then if counts else now
        return then if _STRICTNESS.index(then.action) >= _STRICTNESS.index(now.action) else now


def _is_not_the_classifiers(finding: Finding) -> bool:
    """Tell whether a pattern of a `--safety-policy` file, or the person's own shell, raised the level: neither is in the log."""
    return finding.rule.startswith("policy.") or finding.rule == "shell.other"


def is_comparable(rated: CommandRated) -> bool:
    """Tell whether a rating can be done again from the log."""
    return LABEL not in rated.report.command and not (rated.known is not None and rated.known.partial)


def is_of_a_file(verdict: Verdict) -> bool:
    """Tell whether a rule of a policy file decided: its name says in which file it stands."""
    return ":" in verdict.rule or verdict.rule in _OF_FILES
