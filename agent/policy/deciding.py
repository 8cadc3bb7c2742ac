"""Decide what happens to a rated command: run, ask, ask for the word, or refuse. Pure.

The floor first; then the strictest of the level under the approve mode, the person's `--safety-policy` patterns and every rule that
may be about one of the programs; and only where nothing but the level asks, rules that allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from agent.policy.covering import coverage
from agent.policy.matching import Says
from agent.policy.model import MAY_ALLOW, RUNS_UNASKED, Policy, PolicyFile, Rule
from agent.policy.patterns import hits, raised
from agent.policy.restrictive_match import touches
from agent.protocol.decisions import Level, RiskReport, Verdict, VerdictAction
from agent.protocol.requests import Approval

BUILT_IN = "built-in"
_CHANGES = (
    "append", "chmod", "chown", "copy-to", "create", "delete", "extract", "link", "modify", "move", "overwrite", "permission-wide",
    "shred", "truncate", "write",
)  # fmt: skip


@lru_cache(maxsize=64)
def guard(paths: tuple[str, ...]) -> PolicyFile:
    """A rule that has the word typed for every change of `paths` (files and folders, absolute): no approve mode covers it.

    What may be such a change, because not all of it is known, is left to its level.
    """
    rule = Rule(
        name="own-files",
        action="type",
        program=("*",),
        paths=paths,
        effects=_CHANGES,
        reason="changes files that agent-shell itself goes by",
    )
    return PolicyFile(path=BUILT_IN, trust="site", rules=(rule,) if paths else ())


_PLACES = {
    "everything": "everything on this machine",
    "home": "a whole home folder",
    "system": "a whole folder of the system",
    "mount": "all of a mounted volume",
}
_DOINGS = {
    "move": "moves away",
    "chmod": "changes the permissions of",
    "permission-wide": "changes the permissions of",
    "chown": "changes the owner of",
}


def breach(report: RiskReport) -> tuple[str, str] | None:
    """The first thing in `report` that the floor holds up, by its name ("home", "disk" …) and in words; None where there is none."""
    for finding in report.findings:
        effect = finding.effect
        if effect is None or not effect.whole:
            continue
        name = effect.whole[0]
        if name == "disk":
            return name, "writes straight to a disk or partition that may be in use"
        return name, f"{_DOINGS.get(effect.kind, 'deletes')} {_PLACES.get(name, 'a whole place')}"
    return None


_STRICTNESS: tuple[VerdictAction, ...] = ("allow", "ask", "type", "refuse")
_NO_POLICY = Policy()


class Consulted(Struct, frozen=True, kw_only=True):
    """One rule that had something to say: about which program (-1: none of them), and how surely."""

    file: str
    rule: str
    action: str
    program: int
    says: Says
    why: str = ""


def decide(report: RiskReport, approval: Approval, *, policy: Policy = _NO_POLICY) -> Verdict:
    """The verdict for a report under what the person, and the policy, allow.

    High is never allowed without a person, and neither is a text that was not read to its end. With safety off, high needs no word;
    where nobody can be asked it is refused. Wherever a command comes from, it is held to the same rules.
    """
    found = breach(report)
    if found is not None:
        return _floored(*found, approval)
    report = raised(report, policy.files)
    base = _by_level(report, approval)
    # Of equally strict ones a rule is told rather than the level: it says more.
    found_by = (*_tightened(report, policy), base, *_guarded(report, policy))
    worst = max(found_by, key=lambda verdict: _STRICTNESS.index(verdict.action))
    if worst is not base:
        return worst
    broken = next((file.error for file in policy.files if file.error), "")
    if broken:
        if base.action != "allow":
            return base
        reason = f"a policy file cannot be used, so nothing runs unasked: {broken[:500]}"
        return Verdict(action="ask", rule="policy-error", reason=reason)
    if base.action == "ask" and base.rule.startswith("level-"):
        return _allowed(report, policy, RUNS_UNASKED.get(approval.mode)) or base
    if base.action == "allow":  # a rule with `confine = "off"` says more than the mode: what runs is held to nothing
        return _allowed(report, policy, None, free=True) or base
    return base


def consulted(report: RiskReport, policy: Policy) -> tuple[Consulted, ...]:
    """Every rule that is, or may be, about a program of `report`: for `agent-shell risk --policy`."""
    report = raised(report, policy.files)
    told = [
        Consulted(file=file.path, rule=rule.name, action=rule.action, program=index, says=says, why=why)
        for file, rule, index, says, why in _touching(report, policy, (*policy.files, guard(policy.guarded)))
        if says == "yes" or file.path != BUILT_IN
    ]
    for file in policy.files:
        allows = _allows_of(file)
        told += [
            Consulted(file=file.path, rule=allows[number].name, action="allow", program=index, says="yes")
            for index, number in sorted(coverage(allows, report, policy.place).by.items())
        ]
    for hit in hits(report, policy.files):
        action = "deny" if hit.rule.deny else "ask" if hit.rule.require_confirmation else "raise"
        told.append(Consulted(file=hit.file.path, rule=hit.rule.name, action=action, program=hit.program, says="yes"))
    return tuple(told)


def why_not_allowed(report: RiskReport, approval: Approval, policy: Policy) -> str:
    """Say why the rules that allow do not cover `report`; "" where they do, or where there are none."""
    rules = [rule for file in policy.files for rule in _allows_of(file)]
    return coverage(rules, report, policy.place, up_to=RUNS_UNASKED.get(approval.mode)).why_not if rules else ""


def _floored(name: str, reason: str, approval: Approval) -> Verdict:
    rule = f"floor.{name}"
    if not approval.safety_off:
        return Verdict(action="refuse", rule=rule, reason=f"{reason}; only --safety-off opens this")
    if approval.interactive:
        return Verdict(action="ask", rule=rule, reason=f"{reason}, and safety is off")
    return Verdict(action="refuse", rule=rule, reason=f"{reason}, and nobody is there to ask")


def _by_level(report: RiskReport, approval: Approval) -> Verdict:
    if report.level is Level.HIGH:
        return _high(approval)
    if report.parse != "ok":
        end = "" if approval.safety_off and report.parse == "failed" else " to its end"
        return Verdict(action="ask", rule="parse", reason=f"the command could not be read{end}")
    up_to = RUNS_UNASKED.get(approval.mode)
    if up_to is not None and report.level.rank <= up_to.rank:
        reason = f"{report.level} risk runs without asking"
        return Verdict(action="allow", rule=f"approve-{approval.mode}", reason=reason)
    return Verdict(action="ask", rule=f"level-{report.level}", reason=f"{report.level} risk is asked for")


def _high(approval: Approval) -> Verdict:
    if not approval.safety_off:
        return Verdict(action="type", rule="level-high", reason="high risk: the word must be typed")
    if approval.interactive:
        return Verdict(action="ask", rule="safety-off", reason="high risk, and safety is off")
    return Verdict(action="refuse", rule="safety-off-unattended", reason="high risk, and nobody is there to ask")


# --- tightening ---


def _tightened(report: RiskReport, policy: Policy) -> Iterator[Verdict]:
    for file, rule, _, says, why in _touching(report, policy, policy.files):
        yield _verdict(file, rule, says, why)
    for hit in hits(report, policy.files):
        name = f"{_short(hit.file)}:{hit.rule.name}"
        reason = hit.rule.description or "matches a pattern of the safety policy"
        if hit.rule.deny or hit.rule.require_confirmation:
            yield Verdict(action="refuse" if hit.rule.deny else "ask", rule=name, reason=reason)
    if report.cut or report.parse == "failed":  # what it hides could be what a rule forbids
        forbidding = (named(file, rule) for file in policy.files for rule in file.rules if rule.action == "deny")
        for name in islice(forbidding, 1):
            reason = "not all of it could be read, so forbidding rules cannot be checked"
            yield Verdict(action="refuse", rule=name, reason=reason)


def _guarded(report: RiskReport, policy: Policy) -> Iterator[Verdict]:
    """Changes of our own files. What only may be one is left to its level."""
    for file, rule, _, says, why in _touching(report, policy, (guard(policy.guarded),)):
        if says == "yes":
            yield _verdict(file, rule, says, why)


def _touching(
    report: RiskReport, policy: Policy, files: Iterable[PolicyFile]
) -> Iterator[tuple[PolicyFile, Rule, int, Says, str]]:
    for file in files:
        for rule in file.rules:
            if rule.action == "allow":
                continue
            for index in range(-1, len(report.programs)):
                match = touches(rule, index, report, policy.place)
                if match.says != "no":
                    yield file, rule, index, match.says, match.why


def _verdict(file: PolicyFile, rule: Rule, says: Says, why: str) -> Verdict:
    name = named(file, rule)
    if says == "maybe":
        reason = f"a rule may be about this ({why}): {rule.reason or rule.name}"
        return Verdict(action="ask", rule=name, reason=reason)
    told = f": {why}" if why else ""
    if rule.action == "deny":
        return Verdict(action="refuse", rule=name, reason=(rule.reason or "a rule of the policy forbids it") + told)
    action: VerdictAction = "type" if rule.action == "type" else "ask"
    return Verdict(action=action, rule=name, reason=(rule.reason or "a rule of the policy asks for it") + told)


# --- allowing ---


def _allowed(report: RiskReport, policy: Policy, up_to: Level | None, *, free: bool = False) -> Verdict | None:
    """Return the verdict of rules that allow all of it but what is rated up to `up_to`. `free`: only of those that hold it to nothing."""
    found = [(file, rule) for file in policy.files for rule in _allows_of(file) if rule.free or not free]
    cover = coverage([rule for _, rule in found], report, policy.place, up_to=up_to)
    if not found or cover.why_not:
        return None
    used = [found[number] for number in dict.fromkeys(cover.by.values())]
    reason = next((rule.reason for _, rule in used if rule.reason), "a rule of your policy allows it")
    return Verdict(action="allow", rule=", ".join(named(*each) for each in used), reason=reason)


def _allows_of(file: PolicyFile) -> list[Rule]:
    if file.trust not in MAY_ALLOW or file.error:
        return []
    return [rule for rule in file.rules if rule.action == "allow"]


def named(file: PolicyFile, rule: Rule) -> str:
    """Return how a verdict names a rule."""
    return f"{_short(file)}:{rule.name}"


def _short(file: PolicyFile) -> str:
    """Return how a verdict names a file."""
    return "session" if file.trust == "session" else file.path.rpartition("/")[2]
