"""The whole table of verdicts."""

from __future__ import annotations

import itertools

from agent.policy.deciding import decide
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.requests import Approval
from tests.support.each import each

MODES = ("ask", "low", "medium")


def expected(level: Level, parse: str, mode: str, safety_off: bool, interactive: bool) -> str:
    if level is Level.HIGH:
        if not safety_off:
            return "type"
        return "ask" if interactive else "refuse"
    if parse != "ok":
        return "ask"
    allowed = {"ask": (), "low": (Level.LOW,), "medium": (Level.LOW, Level.MEDIUM)}[mode]
    return "allow" if level in allowed else "ask"


@each(
    ("level", "parse", "mode", "safety_off", "interactive"),
    list(itertools.product(Level, ("ok", "partial", "failed"), MODES, (False, True), (False, True))),
)
def test_table(level: Level, parse: str, mode: str, safety_off: bool, interactive: bool) -> None:
    report = RiskReport(command="x", level=level, parse=parse)  # type: ignore[arg-type]
    approval = Approval(mode=mode, safety_off=safety_off, interactive=interactive)  # type: ignore[arg-type]
    verdict = decide(report, approval)
    assert verdict.action == expected(level, parse, mode, safety_off, interactive)
    assert verdict.word == "proceed"
    assert verdict.rule
    assert verdict.reason


def test_high_is_never_allowed_and_dry_run_is_not_policy_s_business() -> None:
    for mode, safety_off, interactive, dry in itertools.product(MODES, (False, True), (False, True), (False, True)):
        approval = Approval(mode=mode, safety_off=safety_off, interactive=interactive, dry_run=dry)  # type: ignore[arg-type]
        assert decide(RiskReport(command="x", level=Level.HIGH), approval).action != "allow"
