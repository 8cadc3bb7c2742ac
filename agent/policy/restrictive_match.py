"""Match a rule that asks or forbids against a program that a command would run. Pure.

It fails closed by counting what may be so: "maybe" is asked for. The other kind of rule is in `matching`.
"""

from __future__ import annotations

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
from agent.policy.reading import Reading, reading_of, same_program
from agent.policy.rule_paths import UNKNOWN_PART, absolute, lies_in
from agent.protocol.decisions import Finding, ProgramRun, RiskReport


def touches(rule: Rule, index: int, report: RiskReport, place: Place) -> Match:
    """Tell whether a rule that asks or forbids is about program `index` of `report`; -1 is about none (redirections), for "*" only."""
    findings = findings_about(report, index)
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
        Match("maybe", "it may not be run as a program") if run.suspected else YES,
    )
    for answer in answers:
        if answer.says == "no":
            return answer
    return next((answer for answer in answers if answer.says == "maybe"), YES)


def _may_start(run: ProgramRun, names: tuple[str, ...]) -> bool:
    """Tell whether one of the first words behind a program that nothing is known about is one of `names`."""
    if not any(word.rpartition("/")[2] in names for word in run.words[1:7]):
        return False
    from agent.risk.tables.store import program as find_program

    return find_program(reading_of(run.words).name) is None


def _touches_loose(rule: Rule, findings: list[Finding], report: RiskReport, place: Place) -> Match:
    """What belongs to no program, such as a redirection: only rules on every program, by path, scope or effect."""
    about_words = rule.words or rule.exact_words or rule.options != OptionTest()
    if "*" not in rule.program or about_words or not findings:
        return Match("no", "no program")
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    if rule.scopes and not any(has_scope(effect, rule.scopes) for effect in effects):
        return Match("no", "other scopes")
    folders = folders_of(rule, place)
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
    folders = folders_of(rule, place)
    texts = [*reading.operands[len(rule.words) :], *(value for _, value in reading.values)]
    texts += [text.partition("=")[2] for text in texts if "=" in text]
    effects = [finding.effect for finding in findings if finding.effect is not None]
    texts += [target for effect in effects for target in effect.targets]
    deep = any(effect.kind in REACHES_DOWN for effect in effects)
    doubt = False
    for text in texts or ["."]:
        home = f"{place.home}/{text[2:]}" if text.startswith("~/") else place.home if text == "~" else text
        path = absolute(home.partition("*")[0] if "*" in home else home, run.cwd)
        if not path or UNKNOWN_PART in text:
            doubt = True
            continue
        if any(lies_in(path, folder) for folder in folders):
            return YES
        if deep and any(lies_in(folder, path) for folder in folders):
            return YES
    return Match("maybe", NOT_KNOWN) if doubt or not run.whole else Match("no", "other paths")


def _touches_effects(rule: Rule, run: ProgramRun, reading: Reading, findings: list[Finding], place: Place) -> Match:
    effects = [finding.effect for finding in findings if finding.effect is not None]
    if rule.effects and not any(effect.kind in rule.effects for effect in effects):
        return Match("no", "other effects")
    found = any(has_scope(effect, rule.scopes) for effect in effects)
    if rule.scopes and not found and _operand_scopes(run, reading, place).isdisjoint(rule.scopes):
        return Match("no", "other scopes")
    return YES


def _operand_scopes(run: ProgramRun, reading: Reading, place: Place) -> set[str]:
    """How far the operands reach as paths: reading something makes no finding."""
    from agent.protocol.decisions import RiskContext
    from agent.risk.paths.scopes import Scopes
    from agent.risk.tables.store import program as find_program

    table = find_program(reading.name)
    if table is not None and not any(role.rstrip("*") != "text" for role in table.operands):
        return set()  # words to print, expressions, numbers
    scopes = Scopes(RiskContext(cwd=run.cwd, home=place.home, workspace=place.workspace))
    paths = (absolute(text, run.cwd) for text in reading.operands if UNKNOWN_PART not in text)
    return {scopes.of_path(path) for path in paths if path}
