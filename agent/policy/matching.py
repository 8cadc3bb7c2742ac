"""Whether a rule is about a program that a command would run. Pure.

Two questions, with opposite ways to fail closed: `touches` for rules that tighten (what may be so counts as "maybe", which is
asked for), and `covers` for rules that allow (only what is certain counts).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from agent.policy.model import Place, Rule
from agent.policy.reading import UNKNOWN_PART, Reading, absolute, certain_path, lies_in, reading_of, same_program
from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport

Says = Literal["yes", "maybe", "no"]

NAMED_ONLY = frozenset(("secret", "environment", "deception", "unreadable"))
"""Kinds of effect that an `allow` covers only where its `effects` name them."""

_CARRIED = frozenset(("elevate", "remote-shell", "container-run"))
"""What a wrapper may do around a program that an `allow` covers with the wrapper's name in `via`."""

_PLAINLY = frozenset(("-n", "--non-interactive", "-S", "--stdin", "--"))
"""Options of sudo and its like that change nothing about what is run, and as whom."""

_REACHES_DOWN = frozenset(("delete", "move", "chmod", "chown", "permission-wide", "shred", "discard", "truncate"))
"""Effects on a folder that reach what lies below it."""

_NEVER_COVERED = ("session.", "deception.", "parse.", "run.path-changed", "classifier.", "policy.")


class Match(Struct, frozen=True):
    """An answer, and in a few words why not (or why only maybe)."""

    says: Says
    why: str = ""


_YES = Match("yes")
_UNKNOWN = "what it is given is only known when it runs"


def in_force(rule: Rule, place: Place, cwd: str = "") -> Says:
    """Whether the limits of a rule (workspace, session, time) hold; "maybe" where that is not known here."""
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


# --- rules that tighten ---


def touches(rule: Rule, index: int, report: RiskReport, place: Place) -> Match:
    """Whether a rule that asks or forbids is about program `index` of `report`; -1 is about none (redirections), for "*" only."""
    findings = _findings(report, index)
    if index < 0:
        return _touches_loose(rule, findings, report, place)
    run = report.programs[index]
    if not any(same_program(run, name, workspace=place.workspace, certain=False) for name in rule.program):
        if run.words and UNKNOWN_PART in run.words[0]:
            return Match("maybe", "which program it is cannot be known")
        if _may_start(run, rule.program):
            return Match("maybe", "a program that nothing is known about may start it")
        return Match("no", "another program")
    reading = reading_of(run.words)
    answers = (
        _touches_words(rule, reading, whole=run.whole),
        _touches_options(rule, reading, whole=run.whole),
        _touches_paths(rule, run, reading, findings, place),
        _touches_effects(rule, run, reading, findings, place),
        Match(in_force(rule, place, run.cwd), "its workspace, session or time"),
        Match("maybe", "it may not be run as a program") if run.suspected else _YES,
    )
    for answer in answers:
        if answer.says == "no":
            return answer
    return next((answer for answer in answers if answer.says == "maybe"), _YES)


def _may_start(run: ProgramRun, names: tuple[str, ...]) -> bool:
    """Whether one of the first words behind a program that nothing is known about is one of `names`."""
    if not any(word.rpartition("/")[2] in names for word in run.words[1:7]):
        return False
    from agent.risk.knowledge_store import program as find_program

    return find_program(reading_of(run.words).name) is None


def _touches_loose(rule: Rule, findings: list[Finding], report: RiskReport, place: Place) -> Match:
    """What belongs to no program, such as a redirection: only rules on every program, by path, scope or effect."""
    if (
        "*" not in rule.program
        or rule.words
        or rule.exact_words
        or rule.options != type(rule.options)()
        or not findings
    ):
        return Match("no", "no program")
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    if rule.scopes and not any(_scope_of(effect, rule.scopes) for effect in effects):
        return Match("no", "other scopes")
    folders = _folders(rule, place)
    if rule.paths:
        targets = [target for effect in effects for target in effect.targets]
        bases = {place.workspace, *(run.cwd for run in report.programs)}  # in which folder it happens is not told
        paths = {absolute(target, base) for target in targets for base in bases}
        if not any(lies_in(path, folder) for path in paths for folder in folders):
            return Match("no", "other paths")
    return Match(in_force(rule, place), "its workspace, session or time")


def _touches_words(rule: Rule, reading: Reading, *, whole: bool) -> Match:
    operands = reading.operands
    starts = [0]
    while len(starts) in reading.doubtful:
        starts.append(len(starts))
    best: Says = "no"
    for start in starts:
        here = operands[start:]
        says: Says = "yes" if start == 0 else "maybe"
        for position, alternatives in enumerate(rule.words):
            if position >= len(here):
                says = "maybe" if not whole else "no"
                break
            if not _word_in(here[position], alternatives):
                says = "maybe" if UNKNOWN_PART in here[position] else "no"
                if says == "no":
                    break
        if rule.exact_words and len(here) > len(rule.words):
            says = "no"
        if says == "yes":
            return _YES
        best = "maybe" if says == "maybe" else best
    return Match(best, "other words" if best == "no" else _UNKNOWN)


def _word_in(word: str, alternatives: tuple[str, ...]) -> bool:
    return UNKNOWN_PART not in word and ("*" in alternatives or word in alternatives)


def _touches_options(rule: Rule, reading: Reading, *, whole: bool) -> Match:
    test = rule.options
    doubt = not whole
    if test.any and not any(reading.possibly(option) for option in test.any):
        return Match("maybe", _UNKNOWN) if doubt else Match("no", "other options")
    if test.all and not all(reading.possibly(option) for option in test.all):
        return Match("maybe", _UNKNOWN) if doubt else Match("no", "other options")
    if test.none and any(reading.certainly(option) for option in test.none):
        return Match("no", "an option that rules it out")
    if test.only is not None and not reading.nothing_but(test.only):
        return Match("maybe", _UNKNOWN) if doubt else Match("no", "other options")
    if test.values is not None and not any(value in test.values for _, value in reading.values):
        return Match("maybe" if doubt else "no", "other values of its options")
    return _YES


def _touches_paths(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    if not rule.paths:
        return _YES
    folders = _folders(rule, place)
    texts = [*reading.operands[len(rule.words) :], *(value for _, value in reading.values)]
    texts += [text.partition("=")[2] for text in texts if "=" in text]
    effects = [finding.effect for finding in findings if finding.effect is not None]
    texts += [target for effect in effects for target in effect.targets]
    deep = any(effect.kind in _REACHES_DOWN for effect in effects)
    doubt = False
    for text in texts or ["."]:
        home = f"{place.home}/{text[2:]}" if text.startswith("~/") else place.home if text == "~" else text
        path = absolute(home.partition("*")[0] if "*" in home else home, run.cwd)
        if not path or UNKNOWN_PART in text:
            doubt = True
            continue
        if any(lies_in(path, folder) for folder in folders):
            return _YES
        if deep and any(lies_in(folder, path) for folder in folders):
            return _YES
    return Match("maybe", _UNKNOWN) if doubt or not run.whole else Match("no", "other paths")


def _touches_effects(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    found = any(_scope_of(effect, rule.scopes) for effect in effects)
    if rule.scopes and not found and _operand_scopes(run, reading, place).isdisjoint(rule.scopes):
        return Match("no", "other scopes")
    return _YES


def _operand_scopes(run: ProgramRun, reading: Reading, place: Place) -> set[str]:
    """How far the operands reach as paths: reading something makes no finding."""
    from agent.protocol.decisions import RiskContext
    from agent.risk.knowledge_store import program as find_program
    from agent.risk.scopes import Scopes

    table = find_program(reading.name)
    if table is not None and not any(role.rstrip("*") != "text" for role in table.operands):
        return set()  # words to print, expressions, numbers
    scopes = Scopes(RiskContext(cwd=run.cwd, home=place.home, workspace=place.workspace))
    paths = (absolute(text, run.cwd) for text in reading.operands if UNKNOWN_PART not in text)
    return {scopes.of_path(path) for path in paths if path}


# --- rules that allow ---


def covers(rule: Rule, index: int, report: RiskReport, place: Place) -> Match:
    """Whether an `allow` rule certainly covers all that program `index` would do."""
    run = report.programs[index]
    if not any(same_program(run, name, workspace=place.workspace, certain=True) for name in rule.program):
        return Match("no", "another program")
    if not run.whole or run.suspected or any(UNKNOWN_PART in word for word in run.words):
        return Match("no", "not all of its words are known")
    reading = reading_of(run.words)
    answers = (
        _covers_surroundings(rule, index, report),
        _covers_words(rule, reading),
        _covers_options(rule, reading),
        _covers_paths(rule, run, reading, _findings(report, index), place),
        _covers_findings(rule, _findings(report, index)),
    )
    for answer in answers:
        if answer.says != "yes":
            return Match("no", answer.why)
    if in_force(rule, place) != "yes" or (rule.workspace and not lies_in(run.cwd, rule.workspace)):
        return Match("no", "its workspace, session or time")
    return _YES


def carries(rule: Rule, index: int, report: RiskReport) -> bool:
    """Whether program `index` only wraps one that `rule` covers, and does nothing else of its own."""
    name = reading_of(report.programs[index].words).name
    if name not in rule.via or reading_of(report.programs[index].words).by_path:
        return False
    kinds = {finding.effect.kind for finding in _findings(report, index) if finding.effect is not None}
    if "elevate" in kinds and not _elevates_plainly(report, index):
        return False
    return kinds.issubset(_CARRIED)


def _elevates_plainly(report: RiskReport, index: int) -> bool:
    """Whether nothing was said to the wrapper itself: another user, another root folder or a kept environment are not what a rule saw."""
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
    return _YES


def _covers_words(rule: Rule, reading: Reading) -> Match:
    operands = reading.operands
    if len(operands) < len(rule.words) or (rule.exact_words and len(operands) > len(rule.words)):
        return Match("no", "other words")
    if not all(_word_in(word, alternatives) for word, alternatives in zip(operands, rule.words, strict=False)):
        return Match("no", "other words")
    return _YES


def _covers_options(rule: Rule, reading: Reading) -> Match:
    test = rule.options
    if test.any and not any(reading.certainly(option) for option in test.any):
        return Match("no", "other options")
    if not all(reading.certainly(option) for option in test.all):
        return Match("no", "other options")
    if any(reading.possibly(option) for option in test.none):
        return Match("no", "an option that it rules out")
    if test.only is not None and not reading.nothing_but(test.only):
        return Match("no", "other options")
    if test.values is not None and any(value not in test.values for _, value in reading.values):
        return Match("no", "other values of its options")
    if rule.words and not reading.before.issubset((*test.any, *test.all, *(test.only or ()))):
        return Match("no", "an option before its words that it does not name")
    return _YES


def _covers_paths(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    """Every operand behind the rule's words, every option's value and every target lies in one of the rule's folders."""
    if not rule.paths:
        return _YES
    folders = _folders(rule, place)
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
        known = finding.effect is not None and finding.effect.kind in _REACHES_DOWN
        for target in finding.effect.targets if known and finding.effect is not None else ():
            if not any(lies_in(certain_path(target, run.cwd), folder) for folder in folders):
                return Match("no", "other paths")
    return _YES


def _covers_findings(rule: Rule, findings: Iterable[Finding]) -> Match:
    for finding in findings:
        effect = finding.effect
        if finding.level.rank > min(rule.up_to.rank, Level.MEDIUM.rank):
            return Match("no", f"{finding.rule} is {finding.level}")
        if finding.level is Level.LOW:
            continue
        if finding.rule.startswith(_NEVER_COVERED) or effect is None:
            return Match("no", f"{finding.rule} is never covered")
        if effect.kind in NAMED_ONLY and effect.kind not in rule.effects:
            return Match("no", f"its effects do not name {effect.kind}")
        if rule.effects and effect.kind not in rule.effects:
            return Match("no", f"its effects do not name {effect.kind}")
        if rule.scopes and not _scope_of(effect, rule.scopes):
            return Match("no", f"its scopes do not name {effect.scope}")
    return _YES


# --- both ---


def _findings(report: RiskReport, index: int) -> list[Finding]:
    return [finding for finding in report.findings if finding.program == index]


def _scope_of(effect: Effect, scopes: tuple[str, ...]) -> bool:
    return effect.scope in scopes or (effect.kind in ("secret", "send-secret") and "secrets" in scopes)


def _folders(rule: Rule, place: Place) -> list[str]:
    """The rule's paths made absolute; one that needs what is not known here is left out."""
    folders = []
    for path in rule.paths:
        if path == "~" or path.startswith("~/"):
            folders.append(absolute("." + path[1:], place.home) if place.home else "")
        else:
            folders.append(absolute(path, place.workspace))
    return [folder for folder in folders if folder]
