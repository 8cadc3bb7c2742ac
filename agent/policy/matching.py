"""Match a rule that allows against a program that a command would run, and what both kinds of match share. Pure.

It fails closed by counting only what is certain. The other kind of rule is in `restrictive_match`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from agent.policy.model import Place, Rule
from agent.policy.reading import UNKNOWN_PART, Reading, absolute, certain_path, lies_in, reading_of, same_program
from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport

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
    if rule.session and rule.session != place.session:
        return "no"
    now, until = (_moment(place.now), _moment(rule.until)) if rule.until else (None, None)
    if now is not None and until is not None and now >= until:
        return "no"
    if rule.workspace:
        if not place.workspace and not cwd:
            return "maybe"
        if not lies_in(place.workspace, rule.workspace) and not lies_in(cwd, rule.workspace):
            return "no"
    return "maybe" if rule.until and (now is None or until is None) else "yes"


def _moment(text: str) -> float | None:
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None


def findings_about(report: RiskReport, index: int) -> list[Finding]:
    """Return what was found about program `index`; -1: about none."""
    return [finding for finding in report.findings if finding.program == index]


def has_scope(effect: Effect, scopes: tuple[str, ...]) -> bool:
    """Tell whether an effect reaches one of `scopes`; what is read as a secret has no scope of its own."""
    return effect.scope in scopes or (effect.kind in ("secret", "send-secret") and "secrets" in scopes)


def folders_of(rule: Rule, place: Place) -> dict[str, str]:
    """The rule's paths made absolute, with how it writes them; one that needs what is not known here is left out."""
    folders = {}
    for path in rule.paths:
        if path == "~" or path.startswith("~/"):
            folders[absolute("." + path[1:], place.home) if place.home else ""] = path
        else:
            folders[absolute(path, place.workspace)] = path
    folders.pop("", None)
    return folders


def word_in(word: str, alternatives: tuple[str, ...]) -> bool:
    """Tell whether a known word is one of a place's alternatives."""
    return UNKNOWN_PART not in word and ("*" in alternatives or word in alternatives)


NAMED_ONLY = frozenset(("secret", "environment", "deception", "unreadable"))
"""Kinds of effect that an `allow` covers only where its `effects` name them."""

_CARRIED = frozenset(("elevate", "remote-shell", "container-run"))
"""Deeds of a wrapper around a program that an `allow` covers with the wrapper's name in `via`."""

_PLAINLY = frozenset(("-n", "--non-interactive", "-S", "--stdin", "--"))
"""Options of sudo and its like that change nothing about what is run, and as whom."""

_NEVER_COVERED = ("session.", "deception.", "parse.", "run.path-changed", "classifier.", "policy.")


def covers(rule: Rule, index: int, report: RiskReport, place: Place) -> Match:
    """Tell whether an `allow` rule certainly covers all that program `index` would do."""
    run = report.programs[index]
    if not any(same_program(run, name, workspace=place.workspace, certain=True) for name in rule.program):
        return Match("no", "another program")
    if not run.whole or run.suspected or any(UNKNOWN_PART in word for word in run.words):
        return Match("no", "not all of its words are known")
    reading = reading_of(run.words)
    if run.level is not Level.LOW and _may_become_options(reading):
        return Match("no", "a wildcard may stand for a file whose name is an option")
    answers = (
        _covers_surroundings(rule, index, report),
        _covers_words(rule, reading),
        _covers_options(rule, reading),
        _covers_paths(rule, run, reading, findings_about(report, index), place),
        _covers_findings(rule, findings_about(report, index)),
    )
    for answer in answers:
        if answer.says != "yes":
            return answer
    if in_force(rule, place) != "yes" or (rule.workspace and not lies_in(run.cwd, rule.workspace)):
        return Match("no", "its workspace, session or time")
    return YES


def _may_become_options(reading: Reading) -> bool:
    """Tell whether an operand in front of `--` begins with a wildcard: a file called `--to-command=x` would be read as an option."""
    end = reading.words.index("--") if "--" in reading.words else len(reading.words)
    return any(word[:1] in ("*", "?", "[") for word in reading.words[1:end])


def carries(rule: Rule, index: int, report: RiskReport) -> bool:
    """Tell whether program `index` only wraps one that `rule` covers, and does nothing else of its own."""
    name = reading_of(report.programs[index].words).name
    if name not in rule.via or reading_of(report.programs[index].words).by_path:
        return False
    kinds = {finding.effect.kind for finding in findings_about(report, index) if finding.effect is not None}
    if "elevate" in kinds and not _elevates_plainly(report, index):
        return False
    return kinds.issubset(_CARRIED)


def _elevates_plainly(report: RiskReport, index: int) -> bool:
    """Tell whether nothing was said to the wrapper itself: no rule saw another user, another root folder or a kept environment."""
    words = report.programs[index].words
    inner = next((run.words for run in report.programs if run.parent == index and not run.suspected), ())
    own = words[1 : len(words) - len(inner)]
    return bool(inner) and words[len(words) - len(inner) :] == inner and set(own) <= _PLAINLY


def _covers_surroundings(rule: Rule, index: int, report: RiskReport) -> Match:
    run = report.programs[index]
    around, environment = set(run.via), list(run.environment)
    parent, steps = run.parent, 0
    while parent >= 0 and steps < len(report.programs):
        outer = report.programs[parent]
        name = reading_of(outer.words).name
        around.add(name)
        environment += outer.environment
        if name in ("env", "sudo", "doas"):
            environment += [word for word in outer.words[1:] if "=" in word and word[:1] != "-"]
        parent, steps = outer.parent, steps + 1
    if environment and "environment" not in rule.effects:
        return Match("no", f"variables are set for it: {', '.join(environment)[:60]}")
    if not around.issubset(rule.via):
        return Match("no", "it stands behind " + ", ".join(sorted(around.difference(rule.via)))[:80])
    if run.remote and not rule.via:
        return Match("no", "it runs elsewhere")
    return YES


def _covers_words(rule: Rule, reading: Reading) -> Match:
    more = len(reading.operands) - len(rule.words)
    known = map(word_in, reading.operands, rule.words)
    return Match("no", "other words") if more < 0 or (rule.exact_words and more) or not all(known) else YES


def _covers_options(rule: Rule, reading: Reading) -> Match:
    test = rule.options
    if (test.any and not any(map(reading.certainly, test.any))) or not all(map(reading.certainly, test.all)):
        return Match("no", "other options")
    if any(map(reading.possibly, test.none)):
        return Match("no", "an option that it rules out")
    if test.only is not None and not reading.nothing_but(test.only):
        return Match("no", "other options")
    if test.values is not None and any(value not in test.values for _, value in reading.values):
        return Match("no", "other values of its options")
    if rule.words and not reading.before.issubset((*test.any, *test.all, *(test.only or ()))):
        return Match("no", "an option before its words that it does not name")
    return YES


def _covers_paths(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    """Every operand behind the rule's words, every option's value and every target lies in one of the rule's folders."""
    if not rule.paths:
        return YES
    folders = folders_of(rule, place)
    texts = [*reading.operands[len(rule.words) :], *(value for _, value in reading.values)]
    taken = set(texts)
    texts += [text.partition("=")[2] for text in texts if "=" in text]
    if any("from" in option for option in reading.raws):
        return Match("no", "an option may name a file with the paths")
    for word in run.words[1:]:
        attached = word.partition("=")[2] if "=" in word else word[2:]
        if word[:1] == "-" and ("/" in word or ".." in word) and attached not in taken:
            return Match("no", f"the option {word[:40]} may name a path")
    for text in texts or ["."]:
        path = certain_path(text, run.cwd) if text else absolute(".", run.cwd)
        if not any(lies_in(path, folder) for folder in folders):
            return Match("no", "other paths")
    for finding in findings:
        known = finding.effect is not None and finding.effect.kind in REACHES_DOWN
        for target in finding.effect.targets if known and finding.effect is not None else ():
            if not any(lies_in(certain_path(target, run.cwd), folder) for folder in folders):
                return Match("no", "other paths")
    return YES


def _covers_findings(rule: Rule, findings: Iterable[Finding]) -> Match:
    for finding in findings:
        effect = finding.effect
        if finding.level.rank > min(rule.up_to.rank, Level.MEDIUM.rank):
            return Match("no", f"{finding.rule} is {finding.level}")
        if finding.level is Level.LOW:
            continue
        if finding.rule.startswith(_NEVER_COVERED) or effect is None:
            return Match("no", f"{finding.rule} is never covered")
        if (rule.effects or effect.kind in NAMED_ONLY) and effect.kind not in rule.effects:
            return Match("no", f"its effects do not name {effect.kind}")
        if rule.scopes and not has_scope(effect, rule.scopes):
            return Match("no", f"its scopes do not name {effect.scope}")
    return YES
