"""What happens to a rated command: run, ask, ask for the word, or refuse. Pure."""

from __future__ import annotations

from agent.protocol.decisions import Level, RiskReport, Verdict
from agent.protocol.requests import Approval

WORD = "proceed"
_ALLOWED_UP_TO = {"ask": -1, "low": 0, "medium": 1}


def decide(report: RiskReport, approval: Approval, *, origin: str = "planner") -> Verdict:
    """The verdict for a report under what the person allows.

    High is never allowed without a person, and neither is a text that was not read to its end. With safety off, high
    needs no word; where nobody can be asked it is refused. `origin` is where the command comes from; a project's text
    never gets more than a person's would.
    """
    del origin  # every origin is held to the same rules
    if report.level is Level.HIGH:
        return _high(approval)
    if approval.safety_off and report.parse == "failed":
        return Verdict(action="ask", rule="parse", reason="the command could not be read", word=WORD)
    if report.parse != "ok":
        return Verdict(action="ask", rule="parse", reason="the command could not be read to its end", word=WORD)
    if report.level.rank <= _ALLOWED_UP_TO.get(approval.mode, -1):
        return Verdict(
            action="allow",
            rule=f"approve-{approval.mode}",
            reason=f"{report.level} risk runs without asking",
            word=WORD,
        )
    return Verdict(action="ask", rule=f"level-{report.level}", reason=f"{report.level} risk is asked for", word=WORD)


def _high(approval: Approval) -> Verdict:
    if not approval.safety_off:
        return Verdict(action="type", rule="level-high", reason="high risk: the word must be typed", word=WORD)
    if approval.interactive:
        return Verdict(action="ask", rule="safety-off", reason="high risk, and safety is off", word=WORD)
    return Verdict(
        action="refuse", rule="safety-off-unattended", reason="high risk, and nobody is there to ask", word=WORD
    )
