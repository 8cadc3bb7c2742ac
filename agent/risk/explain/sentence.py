"""Say in one sentence what a command does: `moves 3 files in this folder`. Pure: a report in, words out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport
from agent.risk.explain.layout import one_line
from agent.risk.explain.steps import joined, reading_runs, step_words
from agent.risk.reader.words import Word
from agent.risk.tables.help import help_for
from agent.risk.tables.options import operand_roles, split_args
from agent.risk.tables.store import Program, level_rows
from agent.risk.tables.store import program as find_program

_ROOM = 96  # characters that several clauses may take together
_MOST_NAMED = 2
_NAMED = 40  # characters of the names that stand in a clause
_MOST_TARGETS = 12  # a report names no more
_UNKNOWN = "…"
_GLOB = re.compile(r"[*?\[]")
_ONLY_LATER = ("what find matches", "something only known")
_DEEP = " with everything below"

_PLACES = {
    "workspace": "in this folder",
    "temp": "in a temporary folder",
    "home": "in your home folder",
    "config": "among your settings",
    "secrets": "among your secrets",
    "vcs": "in the repository's own records",
    "users": "of other users",
    "system": "in the system's folders",
    "outside": "outside this folder",
    "remote": "on another machine",
}
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::.*|/.*|\?.*)?")


# "shows or changes the network": said of a command that only reads, half of it is not true.
_CHANGING_HALF = re.compile(r" or (?:changes|sets|restores|rebuilds)\b|, or changes .*")
_SENTENCE = re.compile(r"(?:only )?[a-z]+s\b")  # it begins with what is done


class Sentence(NamedTuple):
    """`text` without a full stop. `told`: the findings that it speaks of, as indexes into the report's."""

    text: str
    told: frozenset[int]


def sentence(report: RiskReport) -> Sentence:
    """Say what the command does, its worst first. Everything in it is made visible and on one line. Never raises."""
    wanted = [
        index
        for index, finding in enumerate(report.findings)
        if finding.level is not Level.LOW or (report.level is Level.LOW and _kind(finding) != "none")
    ]
    if not wanted:
        return Sentence(_reading(report.programs), frozenset())
    clauses: dict[str, None] = {}
    told: set[int] = set()
    shown = _without_copies(report, wanted)
    for index in shown:
        clause = _clause(report, index)
        if clause not in clauses and clauses and len("; ".join([*clauses, clause])) > _ROOM:
            continue
        clauses[clause] = None
        told.add(index)
    told.update(index for index in shown if _clause(report, index) in clauses)
    told.update(set(wanted).difference(shown))
    text = "; ".join(clauses)
    left = len([index for index in wanted if index not in told])
    return Sentence(f"{text}; and {left} more" if left else text, frozenset(told))


def _kind(finding: Finding) -> str:
    return finding.effect.kind if finding.effect is not None else ""


def _without_copies(report: RiskReport, wanted: list[int]) -> list[int]:
    """Without the places that something is moved to: the clause of the move names them."""
    moving = {report.findings[index].program for index in wanted if _kind(report.findings[index]) == "move"}
    kept = []
    for index in wanted:
        finding = report.findings[index]
        is_target = _kind(finding) == "copy-to" and finding.program in moving and finding.level is Level.MEDIUM
        if not is_target or finding.program < 0:
            kept.append(index)
    return kept


def _clause(report: RiskReport, index: int) -> str:
    """One finding in a clause: counted where that is exact, in the finding's own words where it has some."""
    finding = report.findings[index]
    effect = finding.effect
    said = one_line(finding.reason, 300)
    if effect is None or effect.whole or finding.level is Level.HIGH:
        return said
    row = level_rows().get(effect.kind)
    extra = _extra(finding, effect, row.reason) if row is not None else None
    if row is None or extra is None:
        return said
    if row.clause:
        return (
            said
            if not effect.targets
            else row.clause.format(_objects(effect, deep=_DEEP in finding.reason)) + extra + _to(report, finding)
        )
    if row.network_clause:
        hosts = dict.fromkeys(_host(target) for target in effect.targets)
        if len(hosts) == 1 and "" not in hosts:
            return row.network_clause.format(next(iter(hosts))) + extra
        return said
    return (_sub_command(report, index) or said) + extra if not extra else said


def _to(report: RiskReport, move: Finding) -> str:
    """Say where a move goes, where the report has one place for it."""
    if _kind(move) != "move" or move.program < 0:
        return ""
    places = [
        target
        for finding in report.findings
        if finding.program == move.program and finding.effect is not None and finding.effect.kind == "copy-to"
        for target in finding.effect.targets
    ]
    return f" to {_one(places[0])[0].removeprefix('all ')}" if len(places) == 1 and places[0].strip(_UNKNOWN) else ""


def _sub_command(report: RiskReport, index: int) -> str:
    """Say what the program's sub-command is for, and on what: `removes containers: web`. "" where more than that was found about it."""
    finding = report.findings[index]
    if not 0 <= finding.program < len(report.programs):
        return ""
    run = report.programs[finding.program]
    others = [other for other in report.findings if other.program == finding.program and other.level is not Level.LOW]
    table = find_program(run.words[0].rpartition("/")[2]) if run.words and run.whole else None
    if table is None or len(others) > 1:
        return ""
    operands = [word.text for word in _operands(run, table)]
    phrase, size = help_for(run.words[0].rpartition("/")[2]).phrase(tuple(operands[:4]))
    names = ", ".join(one_line(word, _NAMED) for word in operands[size:])
    if not phrase or len(names) > _NAMED:
        return one_line(phrase, 80)
    return one_line(phrase, 80) + (f": {names}" if names else "")


def _operands(run: ProgramRun, table: Program) -> list[Word]:
    return split_args([Word(text, index, index + 1) for index, text in enumerate(run.words[1:])], table).operands


def _extra(finding: Finding, effect: Effect, usual: str) -> str | None:
    """Say what facts added to the `usual` words of such an effect; None where the reason says something of its own."""
    before, named, after = usual.partition("{targets}")
    if not named:
        return "" if finding.reason == usual else None
    pattern = f"{re.escape(before)}(.*?){re.escape(after)}(?:{_DEEP})?( \\(.*\\))?"
    found = re.fullmatch(pattern, finding.reason, re.DOTALL)
    if found is None:
        return None
    shown = ", ".join(dict.fromkeys(effect.targets[:4]))
    if found.group(1) not in (shown, f"{shown} …") and not found.group(1).startswith(_ONLY_LATER):
        return None
    return one_line(found.group(2) or "", 200)


def _host(target: str) -> str:
    found = _HOST.fullmatch(target)
    return one_line(found.group(1), 60) if found is not None and _UNKNOWN not in target else ""


def _objects(effect: Effect, *, deep: bool) -> str:
    """`a.txt and b.txt`, `3 files in this folder`, `all *.txt in this folder`."""
    text, counted = _named(effect.targets)
    if deep:
        text += " and everything in it" if len(effect.targets) == 1 else " and everything in them"
    place = _PLACES.get(effect.scope, "")
    # A name says itself where it lies; what is counted or matched does not, and may lie anywhere if it is written in full.
    if (
        not counted
        or not place
        or any("/" in target.removeprefix("./") or target[:1] == "~" for target in effect.targets)
    ):
        return text
    return f"{text} {place}"


def _named(targets: Iterable[str]) -> tuple[str, bool]:
    """The targets by their names, or counted; and whether they are counted, matched or known only later."""
    known = list(dict.fromkeys(target for target in targets if target.strip(_UNKNOWN)))
    if not known:
        return "files known only when it runs", True
    if len(known) == 1:
        return _one(known[0])
    globs = [target for target in known if _GLOB.search(target) or _UNKNOWN in target]
    names = " and ".join(one_line(target, _NAMED) for target in known)
    if len(known) <= _MOST_NAMED and len(names) <= _NAMED:
        return (" and ".join(_one(target)[0] for target in known), bool(globs))
    if not globs:
        return (f"{len(known)} or more files" if len(known) >= _MOST_TARGETS else f"{len(known)} files"), True
    return f"files of {len(known)} names and patterns", True


def _one(target: str) -> tuple[str, bool]:
    if target in (".", "./"):
        return "this folder", False
    if target.endswith("/" + _UNKNOWN) and target.count(_UNKNOWN) == 1:
        folder = target[:-2]
        here = folder in (".", "") and target[0] != "/"
        return ("files found below this folder" if here else f"files found below {one_line(folder or '/', 60)}"), False
    if target in ("*", "./*"):
        return "all files", True
    shown = one_line(target, 60)
    return (f"all {shown}", True) if _GLOB.search(target) else (shown, False)


def _reading(programs: tuple[ProgramRun, ...]) -> str:
    """Tell of a command without effects what its programs are for, and what they read."""
    steps = dict.fromkeys((run, step_words(run) or _about(run)) for run in reading_runs(programs))
    return joined(list(steps), _ROOM) or "read-only"


def _about(run: ProgramRun) -> str:
    name = run.words[0].rpartition("/")[2]
    told, table = help_for(name), find_program(name)
    operands = _operands(run, table) if table is not None else []
    phrase, size = told.phrase(tuple(word.text for word in operands[:4]))
    words = [Word(text, index, index + 1) for index, text in enumerate(run.words[1:])]
    args = split_args(words, table) if table is not None else None
    if table is not None and args is not None and not phrase:
        # What holds a program back says what it does instead: `unzip -l` unpacks nothing.
        phrase = next(
            (text for each in sorted(args.names & table.dry) if _SENTENCE.match(text := told.option(each))), ""
        )
    about = one_line(_CHANGING_HALF.sub("", (phrase or told.about).partition(";")[0]), 80)
    if not _SENTENCE.match(about):
        return f"runs {one_line(name, 40)}, which only reads"
    if table is None or args is None or size or table.cases:
        return about
    reads = [word.text for role, some in operand_roles(table, args) if role == "read" for word in some]
    return f"{about}: {_named(reads[:_MOST_TARGETS])[0]}" if reads else about
