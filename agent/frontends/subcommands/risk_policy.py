"""Report what policy says to a command, and which rule decided: for `agent-shell risk --policy`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from agent.policy.deciding import Consulted, consulted, decide, why_not_allowed
from agent.policy.model import Policy
from agent.policy.patterns import raised
from agent.protocol.decisions import RiskContext, RiskReport, Verdict
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from agent.text.visible import make_visible


class Held(Struct, frozen=True, kw_only=True):
    """Things that a command is held against: `policy(cwd)`, and the facts that the gate would collect there."""

    policy: Callable[[str], Policy] = lambda cwd: Policy()
    context: Callable[[str, str], RiskContext] = lambda command, cwd: RiskContext()
    approval: Approval = Approval()


class Account(Struct, frozen=True, kw_only=True):
    """A verdict with how it came about. `report` is the rating in that folder, which may differ from one without facts."""

    report: RiskReport
    verdict: Verdict
    rules: tuple[Consulted, ...]
    why_not: str
    policy: Policy


def account(command: str, held: Held, cwd: str | None) -> Account:
    """Tell what the gate would say in `cwd` (None: the working folder)."""
    folder = os.path.abspath(os.path.expanduser(cwd)) if cwd is not None else os.getcwd()
    policy = held.policy(folder)
    report = raised(classify(command, held.context(command, folder)), policy.files)
    verdict = decide(report, held.approval, policy=policy)
    return Account(
        report=report,
        verdict=verdict,
        rules=consulted(report, policy),
        why_not=why_not_allowed(report, held.approval, policy) if verdict.action != "allow" else "",
        policy=policy,
    )


def account_object(found: Account) -> dict[str, Any]:
    """As JSON: action, rule, reason and level; every file; for each program the rules that are, or may be, about it."""
    programs = [
        {
            "words": list(run.words),
            "via": list(run.via),
            "level": run.level.value,
            "rules": [_rule_object(rule) for rule in found.rules if rule.program == index],
        }
        for index, run in enumerate(found.report.programs)
    ]
    verdict = found.verdict
    value: dict[str, Any] = {
        "action": verdict.action,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "level": found.report.level.value,
        "files": [
            {
                "path": file.path,
                "trust": file.trust,
                "rules": len(file.rules) + len(file.patterns),
                **({"error": file.error} if file.error else {}),
            }
            for file in found.policy.files
        ],
        "programs": programs,
    }
    loose = [_rule_object(rule) for rule in found.rules if rule.program < 0]
    if loose:
        value["rules"] = loose
    if found.why_not:
        value["not_allowed"] = found.why_not
    return value


def account_lines(found: Account) -> list[str]:
    """For a person: files with mistakes, each program with its rules, and what decided, last."""
    lines = [f"until this is fixed, nothing runs unasked: {file.error}" for file in found.policy.files if file.error]
    for index, run in enumerate(found.report.programs):
        for rule in (rule for rule in found.rules if rule.program == index):
            lines.append(f"  {make_visible(' '.join(run.words))[:100]}: {_rule_line(rule)}")
    lines += [f"  as a whole: {_rule_line(rule)}" for rule in found.rules if rule.program < 0]
    if found.why_not:
        lines.append(f"  not allowed by a rule: {make_visible(found.why_not)}")
    verdict = found.verdict
    decided = f"policy: {verdict.action}, decided by {verdict.rule}: {make_visible(verdict.reason)}"
    return [*(line.replace("\n", "␊") for line in lines), decided.replace("\n", "␊")]


def _rule_object(rule: Consulted) -> dict[str, Any]:
    value = {"file": rule.file, "rule": rule.rule, "action": rule.action, "says": rule.says}
    return {**value, "why": rule.why} if rule.why else value


def _rule_line(rule: Consulted) -> str:
    doubt = f" (perhaps: {rule.why})" if rule.says == "maybe" else f" ({rule.why})" if rule.why else ""
    return f"{rule.action} by rule {rule.rule} of {rule.file}{doubt}"
