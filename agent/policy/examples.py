"""The examples of a rule, run when its file is loaded: a rule that does not do what it says is an error. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from agent.policy.covering import coverage
from agent.policy.model import Place, Rule
from agent.policy.touching import touches
from agent.protocol.decisions import RiskContext, RiskReport

PRETENDED_HOME = "/home/you"
PRETENDED_WORKSPACE = "project"


def failing_example(rule: Rule, home: str = "") -> str:
    """What is wrong with the rule's examples, "" where they all behave as they say.

    They are read as if in the rule's workspace, else in a folder below home, without regard to session and time.
    """
    if not rule.match and not rule.not_match:
        return ""
    from agent.risk.classifier import classify

    home = home.rstrip("/") or PRETENDED_HOME
    workspace = rule.workspace or f"{home}/{PRETENDED_WORKSPACE}"
    place = Place(workspace=workspace, home=home)
    lasting = replace(rule, session="", until="")
    context = RiskContext(cwd=workspace, home=home, workspace=workspace)
    for wanted, examples in ((True, rule.match), (False, rule.not_match)):
        for example in examples:
            report = classify(example, context)
            if applies(lasting, report, place) is not wanted:
                key, says = ("match", "does not match") if wanted else ("not_match", "matches")
                return f"{key}: the rule {says} {_shown(example)}"
    return ""


def applies(rule: Rule, report: RiskReport, place: Place) -> bool:
    """Tell whether the rule alone has its say: an `allow` covers everything in the command, another touches one program of it."""
    if rule.action != "allow":
        return any(touches(rule, index, report, place).says == "yes" for index in range(-1, len(report.programs)))
    return not coverage((rule,), report, place).why_not


def _shown(example: str) -> str:
    from agent.text.visible import make_visible

    return repr(make_visible(example))[:160]
