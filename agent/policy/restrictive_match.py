"""Match a rule that asks or forbids against a program that a command would run. Pure.

It fails closed by counting what may be so: "maybe" is asked for. The other kind of rule is in `matching`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.policy.matching import (
    NOT_KNOWN,
    REACHES_DOWN,
    YES,
    Match,
    Says,
    findings_about,
    folders_of,
    has_scope,
    in_force,
    word_in,
)
from agent.policy.model import OptionTest, Place, Rule
from agent.policy.reading import UNKNOWN_PART, Reading, absolute, lies_in, may_lie_in, reading_of, same_program
from agent.protocol.decisions import Finding, ProgramRun, RiskReport
from agent.text.visible import make_visible

_WILD = re.compile(r"[*?\[{]")


def touches(rule: Rule, index: int, report: RiskReport, place: Place) -> Match:
    """Tell whether a rule that asks or forbids is about program `index` of `report`; -1 is about none (redirections), for "*" only."""
    findings = findings_about(report, index)
    if index < 0:
        return _touches_loose(rule, findings, report, place)
    run = report.programs[index]
    if not any(same_program(run, name, workspace=place.workspace, certain=False) for name in rule.program):
        if run.words and UNKNOWN_PART in run.words[0]:
            return Match("maybe", "the program is only known when it runs")
        if _may_start(run, rule.program):
            return Match("maybe", "an unknown program may start it")
        return Match("no", "another program")
    reading = reading_of(run.words)
    answers = (
        _touches_words(rule, reading, whole=run.whole),
        _touches_options(rule, reading, whole=run.whole),
        _touches_paths(rule, run, reading, findings, place),
        _touches_effects(rule, run, reading, findings, place),
        Match(in_force(rule, place, run.cwd), "its workspace, session or time"),
        Match("maybe", "it may not be run as a program") if run.suspected else YES,
    )
    for answer in answers:
        if answer.says == "no":
            return answer
    return next((answer for answer in answers if answer.says == "maybe"), answers[2])


def _may_start(run: ProgramRun, names: tuple[str, ...]) -> bool:
    """Tell whether one of the first words behind a program that nothing is known about is one of `names`."""
    if not any(word.rpartition("/")[2] in names for word in run.words[1:7]):
        return False
    from agent.risk.tables.store import program as find_program

    return find_program(reading_of(run.words).name) is None


def _touches_loose(rule: Rule, findings: list[Finding], report: RiskReport, place: Place) -> Match:
    """Match what belongs to no program, such as a redirection: only rules on every program do, by path, scope or effect."""
    about_words = rule.words or rule.exact_words or rule.options != OptionTest()
    if "*" not in rule.program or about_words or not findings:
        return Match("no", "no program")
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    if rule.scopes and not any(has_scope(effect, rule.scopes) for effect in effects):
        return Match("no", "other scopes")
    reached = YES
    if rule.paths:
        deep = any(effect.kind in REACHES_DOWN for effect in effects)
        targets = {target for effect in effects for target in effect.targets}
        bases = {place.workspace, *(run.cwd for run in report.programs)}  # in which folder it happens is not told
        reached = _surest(_reach(target, base, rule, place, deep=deep) for target in targets for base in bases)
    limits = Match(in_force(rule, place), "its workspace, session or time")
    return reached if reached.says == "no" or limits.says == "yes" else limits


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
            if not word_in(here[position], alternatives):
                says = "maybe" if UNKNOWN_PART in here[position] else "no"
                if says == "no":
                    break
        if rule.exact_words and len(here) > len(rule.words):
            says = "no"
        if says == "yes":
            return YES
        best = "maybe" if says == "maybe" else best
    return Match(best, "other words" if best == "no" else NOT_KNOWN)


def _touches_options(rule: Rule, reading: Reading, *, whole: bool) -> Match:
    test = rule.options
    other = Match("no", "other options") if whole else Match("maybe", NOT_KNOWN)
    if (test.any and not any(map(reading.possibly, test.any))) or not all(map(reading.possibly, test.all)):
        return other
    if any(map(reading.certainly, test.none)):
        return Match("no", "an option that rules it out")
    if test.only is not None and not reading.nothing_but(test.only):
        return other
    if test.values is not None and not any(value in test.values for _, value in reading.values):
        return Match(other.says, "other values of its options")
    return YES


def _touches_paths(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    if not rule.paths:
        return YES
    texts = [*reading.operands[len(rule.words) :], *(value for _, value in reading.values)]
    texts += [text.partition("=")[2] for text in texts if "=" in text]
    effects = [finding.effect for finding in findings if finding.effect is not None]
    texts += [target for effect in effects for target in effect.targets]
    deep = any(effect.kind in REACHES_DOWN for effect in effects)
    found = _surest(_reach(text, run.cwd, rule, place, deep=deep) for text in texts or ["."])
    return _maybe(rule, NOT_KNOWN) if found.says == "no" and not run.whole else found


def _reach(text: str, cwd: str, rule: Rule, place: Place, *, deep: bool) -> Match:
    """Tell whether `text`, read as a path, reaches one of the rule's paths, and how. `deep`: with what lies below it."""
    home = f"{place.home}/{text[2:]}" if text.startswith("~/") else place.home if text == "~" else text
    path = absolute(home, cwd)
    if not path or UNKNOWN_PART in text:
        return _maybe(rule, NOT_KNOWN if UNKNOWN_PART in text else "the folder in which it runs is not known")
    wild = _WILD.search(path)
    certain = path[: wild.start()].rpartition("/")[0] if wild else path
    shown = make_visible(text)[:60]
    for folder, written in folders_of(rule, place).items():
        if lies_in(certain, folder):
            return Match("yes", f"it reaches {written}")
        if deep and not wild and lies_in(folder, certain):
            return Match("yes", f"{written} lies in {shown}")
        if wild and may_lie_in(path, folder, deep=deep):
            if all(part in ("*", "**") for part in path.split("/") if _WILD.search(part)):
                return Match("yes", f"{shown} matches {written}")
            return Match("maybe", f"it may reach {written}, because {shown} may match it")
    return Match("no", "other paths")


def _maybe(rule: Rule, why: str) -> Match:
    return Match("maybe", f"it may reach {' or '.join(rule.paths)}, because {why}")


def _surest(matches: Iterable[Match]) -> Match:
    """The one of `matches` that says most."""
    found = Match("no", "other paths")
    for match in matches:
        if match.says == "yes":
            return match
        found = match if match.says == "maybe" and found.says == "no" else found
    return found


def _touches_effects(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    found = any(has_scope(effect, rule.scopes) for effect in effects)
    if rule.scopes and not found and _operand_scopes(run, reading, place).isdisjoint(rule.scopes):
        return Match("no", "other scopes")
    return YES


def _operand_scopes(run: ProgramRun, reading: Reading, place: Place) -> set[str]:
    """Return how far the operands reach as paths: reading something makes no finding."""
    from agent.protocol.decisions import RiskContext
    from agent.risk.paths.scopes import Scopes
    from agent.risk.tables.store import program as find_program

    table = find_program(reading.name)
    if table is not None and not any(role.rstrip("*") != "text" for role in table.operands):
        return set()  # words to print, expressions, numbers
    scopes = Scopes(RiskContext(cwd=run.cwd, home=place.home, workspace=place.workspace))
    paths = (absolute(text, run.cwd) for text in reading.operands if UNKNOWN_PART not in text)
    return {scopes.of_path(path) for path in paths if path}
