"""Hold what runs unasked to its rating: its rights before the run, and what becomes of it where it wanted more."""

from __future__ import annotations

from weakref import WeakSet

from agent.gate.verdicts import Rated
from agent.policy.deciding import named
from agent.policy.model import ONE_HIGHER, Policy
from agent.policy.rights import opens_editor, reads_plainly, rights
from agent.protocol.approvals import CANNOT, Rights
from agent.protocol.decisions import Finding, RiskContext, RiskReport, Verdict
from agent.protocol.events.session import Warned
from agent.protocol.execution import Executor
from agent.protocol.ports import EventSink

RULE = "lock"
_told: WeakSet[Executor] = WeakSet()


async def held(
    rated: Rated, policy: Policy, executor: Executor, events: EventSink, *, typed: bool = False
) -> tuple[Verdict, Rights | None]:
    """The verdict and the rights of a run that policy allows. What cannot be held is asked for, unless it reads plainly, or the person
    `typed` it as it is.

    None for what is not held: a person looks at it, a rule with `confine = "off"` allows it, or its rating says that anything may happen.
    """
    report, verdict = rated.report, rated.verdict
    if _is_free(verdict, policy):
        return verdict, None
    if opens_editor(report):
        if typed:
            return verdict, None
        reason = f"{CANNOT}a person works in an editor, and says what is written"
        return Verdict(action="ask", rule=RULE, reason=reason, word=verdict.word), None
    rights_of_it = rights(report, rated.context or RiskContext())
    if rights_of_it is None or rated.confining.had != "off":
        return verdict, rights_of_it
    why = await executor.unheld(report)
    if not why:
        return verdict, rights_of_it
    if typed:
        return verdict, None
    if executor not in _told:
        _told.add(executor)
        await events.send(
            Warned(text=f"what runs unasked cannot be held to its rating here, so only read-only commands do: {why}")
        )
    if reads_plainly(report):
        return verdict, None
    return Verdict(action="ask", rule=RULE, reason=f"{CANNOT}{why}", word=verdict.word), None


def _is_free(verdict: Verdict, policy: Policy) -> bool:
    """Tell whether rules allow it that say `confine = "off"` themselves."""
    names = verdict.rule.split(", ")
    rules = [
        rule for file in policy.files for rule in file.rules if rule.action == "allow" and named(file, rule) in names
    ]
    return bool(rules) and all(rule.free for rule in rules)


def held_words(refused: tuple[str, ...]) -> str:
    """Say what it tried."""
    return f"it tried to {' and to '.join(refused[:3])}, which its rating does not say"


def wanted_more(report: RiskReport, refused: tuple[str, ...]) -> Finding:
    """The reason for a rating one level higher: what it tried beside what its rating says."""
    return Finding(
        rule="lock.refused", level=ONE_HIGHER[report.level], reason=held_words(refused), span=(0, len(report.command))
    )
