"""Values that both kinds of match share: answers, limits of a rule, and what was found about one program. Pure."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.policy.model import Place, Rule
from agent.policy.reading import UNKNOWN_PART, absolute, lies_in
from agent.protocol.decisions import Effect, Finding, RiskReport

Says = Literal["yes", "maybe", "no"]

REACHES_DOWN = frozenset(("delete", "move", "chmod", "chown", "permission-wide", "shred", "discard", "truncate"))
"""Effects on a folder that reach what lies below it."""


class Match(Struct, frozen=True):
    """An answer, and in a few words why not (or why only maybe)."""

    says: Says
    why: str = ""


YES = Match("yes")
NOT_KNOWN = "what it is given is only known when it runs"


def in_force(rule: Rule, place: Place, cwd: str = "") -> Says:
    """Tell whether the limits of a rule (workspace, session, time) hold; "maybe" where that is not known here."""
    doubt: Says = "yes"
    if rule.session and rule.session != place.session:
        return "no"
    if rule.until:
        now, until = _moment(place.now), _moment(rule.until)
        if now is None or until is None:
            doubt = "maybe"
        elif now >= until:
            return "no"
    if rule.workspace:
        if not place.workspace and not cwd:
            return "maybe"
        if not lies_in(place.workspace, rule.workspace) and not lies_in(cwd, rule.workspace):
            return "no"
    return doubt


def _moment(text: str) -> float | None:
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None


def findings_about(report: RiskReport, index: int) -> list[Finding]:
    """What was found about program `index`; -1: about none."""
    return [finding for finding in report.findings if finding.program == index]


def has_scope(effect: Effect, scopes: tuple[str, ...]) -> bool:
    """Tell whether an effect reaches one of `scopes`; what is read as a secret has no scope of its own."""
    return effect.scope in scopes or (effect.kind in ("secret", "send-secret") and "secrets" in scopes)


def folders_of(rule: Rule, place: Place) -> list[str]:
    """The rule's paths made absolute; one that needs what is not known here is left out."""
    folders = []
    for path in rule.paths:
        if path == "~" or path.startswith("~/"):
            folders.append(absolute("." + path[1:], place.home) if place.home else "")
        else:
            folders.append(absolute(path, place.workspace))
    return [folder for folder in folders if folder]


def word_in(word: str, alternatives: tuple[str, ...]) -> bool:
    """Tell whether a known word is one of a place's alternatives."""
    return UNKNOWN_PART not in word and ("*" in alternatives or word in alternatives)
