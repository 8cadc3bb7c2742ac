"""Decide how a command is confined: the person's setting and every rule that may be about one of its programs. Pure."""

from __future__ import annotations

from agent.policy.model import ONE_HIGHER, Policy, Rule
from agent.policy.restrictive_match import touches
from agent.policy.rights import changed_paths, changed_words, holds
from agent.protocol.confinement import Confinement, Confining, strictest
from agent.protocol.decisions import Finding, RiskReport, Verdict
from agent.protocol.rehearsals import Rehearsal

RULE = "confine"


def wanted(report: RiskReport, policy: Policy, setting: Confinement) -> Confinement:
    """The strictest of the setting and of the rules with `confine` that are, or may be, about a program of `report`."""
    rules = [rule for file in policy.files for rule in file.rules if rule.confine != "off"]
    return strictest([setting, *(rule.confine for rule in rules if _is_about(rule, report, policy))])


def _is_about(rule: Rule, report: RiskReport, policy: Policy) -> bool:
    if report.cut or report.parse == "failed":
        return True  # what could not be read may hold what the rule is about
    return any(touches(rule, index, report, policy.place).says != "no" for index in range(-1, len(report.programs)))


def unconfined(report: RiskReport, confining: Confining) -> Finding:
    """The reason for a rating one level higher: it was to be confined, and cannot be."""
    reason = f"would run not confined, though {confining.mode} was asked for: {confining.reason}"
    span = (0, len(report.command))
    return Finding(
        rule="confine.none", level=ONE_HIGHER[report.level], reason=reason, span=span, safer=confining.remedy
    )


def beyond(confining: Confining, rehearsal: Rehearsal) -> str:
    """Say what making a rehearsal real would write although a confined run could not, in words; "" for nothing.

    A rehearsal shows all that a command wants to do; confinement is held against it here.
    """
    files = confining.mode.split(",")[0]
    if files not in ("workspace", "read-only") or not (rehearsal.changes or rehearsal.more):
        return ""
    paths = changed_paths(rehearsal)
    paths = [path for path in paths if files == "read-only" or not _is_writable(path, confining)]
    changed = changed_words(paths, more=rehearsal.more > 0)
    return f"it was to be confined ({confining.mode}), and would change {changed}" if changed else ""


def _is_writable(path: str, confining: Confining) -> bool:
    """Tell whether a command confined to the workspace may write there."""
    below = [folder for folder in (confining.workspace, *confining.also) if folder and holds(folder, path)]
    return bool(below) and not any(folder and holds(folder, path) for folder in confining.protected)


def kept_out(verdict: Verdict, confining: Confining, paths: tuple[str, ...]) -> Verdict:
    """Refuse what would change one of the real `paths` without a command, where a confined command could not."""
    files = confining.mode.split(",")[0]
    if files not in ("workspace", "read-only") or verdict.action == "refuse":
        return verdict
    if files == "workspace" and all(_is_writable(path, confining) for path in paths):
        return verdict
    where = "nothing" if files == "read-only" else f"only {confining.workspace or 'the workspace'}"
    return Verdict(action="refuse", rule=RULE, reason=f"{where} may be written ({confining.mode})", word=verdict.word)


def held_back(verdict: Verdict, confining: Confining, *, interactive: bool) -> Verdict:
    """Return what is asked for, or refused, instead of running unconfined without a person."""
    if not confining.reason or verdict.action == "refuse":
        return verdict
    if not interactive:
        reason = f"it cannot be confined ({confining.mode}): {confining.reason}"
        return Verdict(action="refuse", rule=RULE, reason=reason, word=verdict.word)
    if verdict.action == "allow":
        return Verdict(action="ask", rule=RULE, reason="it cannot be confined, so it is asked for", word=verdict.word)
    return verdict
