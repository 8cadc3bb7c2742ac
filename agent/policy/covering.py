"""Check that rules that allow cover all of a command. Pure.

Every program that was rated above low must be covered, or be nothing but the wrapper of covered ones; what belongs to no program
(a redirection, a hidden character) is covered by nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.policy.matching import carries, covers
from agent.policy.model import Place, Rule
from agent.policy.restrictive_match import touches
from agent.protocol.decisions import Finding, Level, ProgramRun, RiskContext, RiskReport

_PRETENDED_HOME = "/home/you"


def failing_example(rule: Rule, home: str = "") -> str:
    """Say what is wrong with the rule's examples, "" where they all behave as they say.

    They are read as if in the rule's workspace, else in a folder below home, without regard to session and time.
    """
    if not rule.match and not rule.not_match:
        return ""
    from agent.risk.classifier import classify
    from agent.text.visible import make_visible

    home = home.rstrip("/") or _PRETENDED_HOME
    workspace = rule.workspace or f"{home}/project"
    place = Place(workspace=workspace, home=home)
    lasting = replace(rule, session="", until="")
    context = RiskContext(cwd=workspace, home=home, workspace=workspace)
    for wanted, examples in ((True, rule.match), (False, rule.not_match)):
        for example in examples:
            report = classify(example, context)
            if applies(lasting, report, place) is not wanted:
                key, says = ("match", "does not match") if wanted else ("not_match", "matches")
                return f"{key}: the rule {says} {repr(make_visible(example))[:160]}"
    return ""


def applies(rule: Rule, report: RiskReport, place: Place) -> bool:
    """Tell whether the rule alone has its say: an `allow` covers everything in the command, another touches one program of it."""
    if rule.action != "allow":
        return any(touches(rule, index, report, place).says == "yes" for index in range(-1, len(report.programs)))
    return not coverage((rule,), report, place).why_not


_MOST_NAMES = 40
# What these read on standard input is only copied or looked at: what they do stands in their words.
_COPIES = frozenset(
    ("tee", "cat", "sort", "uniq", "grep", "head", "tail", "wc", "less", "more", "tr", "cut", "gzip", "bzip2", "xz", "zstd",
     "split", "sponge")
)  # fmt: skip


class Coverage(Struct, frozen=True):
    """`by`: for each covered program, which rule (an index into the rules given) covers it. `why_not`: "" where all is covered."""

    by: Mapping[int, int]
    why_not: str = ""


def coverage(rules: Sequence[Rule], report: RiskReport, place: Place, *, up_to: Level | None = Level.LOW) -> Coverage:
    """Return how far `rules` cover what in `report` is above `up_to`, which runs without asking anyway (None: nothing does)."""
    by = _covered(rules, report, place)
    return Coverage(by, _why_not(by, report, -1 if up_to is None else up_to.rank))


def _covered(rules: Sequence[Rule], report: RiskReport, place: Place) -> dict[int, int]:
    by: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for index, run in enumerate(report.programs):
        children.setdefault(run.parent, []).append(index)
        if _told_elsewhere(run):
            continue
        for number, rule in enumerate(rules):
            if covers(rule, index, report, place).says == "yes":
                by[index] = number
                break
    for index in range(len(report.programs) - 1, -1, -1):  # wrappers, from the innermost
        inner = children.get(index, [])
        if index in by or not inner or not all(child in by for child in inner):
            continue
        if all(carries(rules[by[child]], index, report) for child in inner):
            by[index] = by[inner[0]]
    for index, run in enumerate(report.programs):  # words that may be run, where a rule names each of them
        outer = rules[by[run.parent]] if run.suspected and index not in by and run.parent in by else None
        if outer is not None and outer.exact_words and outer.options.only is not None:
            by[index] = by[run.parent]
    return by


def _told_elsewhere(run: ProgramRun) -> bool:
    """Tell whether what a program does may stand in what it is fed: `patch`, `psql`, `xargs`. No rule on its words covers that."""
    return run.fed and run.level is not Level.LOW and (run.words or ("",))[0].rpartition("/")[2] not in _COPIES


def _from_outside(command: str) -> str:
    """A variable that the command uses and does not set, "" for none: a rating may take its usual value for granted.

    Quotes are not looked at: one variable too many only means that somebody is asked.
    """
    if "$" not in command:
        return ""
    names = dict.fromkeys(re.findall(r"\$\{?[!#]?([A-Za-z_]\w*)", command))
    if len(names) > _MOST_NAMES:
        return str(next(iter(names)))
    for name in names:
        if name in ("HOME", "PWD"):
            continue
        if not re.search(rf"(?:^|[\s;&|({{]){name}=|\bfor\s+{name}\b|\bread\b[^;&|\n]*\b{name}\b", command):
            return str(name)
    return ""


def _fed(run: ProgramRun) -> str:
    return f"what {(run.words or ('it',))[0]} does may depend on its standard input"


def _uncovered(finding: Finding, report: RiskReport) -> str:
    """Say why no rule covers what was found."""
    if finding.program < 0:
        return f"{finding.rule} belongs to no program"
    run = report.programs[finding.program]
    if _told_elsewhere(run):
        return _fed(run)
    return f"no rule covers {run.words[0] if run.words else 'a program'} ({finding.rule})"


def _why_not(by: Mapping[int, int], report: RiskReport, up_to: int) -> str:
    if report.level is Level.HIGH:
        return "high risk is never allowed by a rule"
    if report.parse != "ok":
        return "the command could not be read to its end"
    if report.cut:
        return "the command does more than its report tells"
    if not by:
        return next(
            (_fed(run) for run in report.programs if _told_elsewhere(run)), "no rule covers any of its programs"
        )
    if guessed := _from_outside(report.command):
        return f"what ${guessed} is, is only known when it runs"
    for finding in report.findings:
        if finding.level.rank <= up_to or finding.program in by:
            continue
        return _uncovered(finding, report)
    for index, run in enumerate(report.programs):
        if run.level.rank > up_to and index not in by and not (run.suspected and run.level is Level.LOW):
            return f"no rule covers {run.words[0] if run.words else 'a program'}"
        if run.words[:1] in (("cd",), ("pushd",)) and run.environment:
            return "the folder that it goes to depends on a variable"
        if run.words[:1] == ("printf",) and "-v" in run.words and index not in by:
            return "printf -v may set what the next program reads"
    return ""
