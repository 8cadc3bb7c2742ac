"""Draft rules that would cover one program of a rated command, from the most useful to the narrowest. Pure.

A draft names the program, its sub-command, the options that were used and no others, what it may do and where. It is neither the
exact text (never met again) nor the bare name (everything that program can do). Whether a draft holds is proved by `proposing`.
"""

from __future__ import annotations

import posixpath

from msgspec.structs import replace

from agent.policy.model import OptionTest, Place, Rule
from agent.policy.reading import Reading, absolute, certain_path, lies_in, reading_of
from agent.protocol.decisions import Finding, Level, ProgramRun, RiskReport

NEVER: dict[str, str] = {
    "secret": "it shows secrets, and next time others",
    "environment": "it changes what later programs load",
    "deception": "its text hides something",
    "unreadable": "it could not be read to its end",
    "kill": "it ends processes, whose numbers differ next time",
    "send": "it sends data over the network, and next time that may be anything",
    "schedule": "it makes something run later",
    "tunnel": "it opens a way into a network",
    "serve": "it lets others in",
    "permission-wide": "it gives everyone rights",
    "mount": "it changes what is mounted",
    "configure-system": "it changes the system's settings",
    "remote-shell": "it works on another machine",
}
"""Kinds of effect that no rule from the prompt allows, and why."""

_WRAPS = frozenset(("elevate", "container-run"))
_OPEN = frozenset(("push", "vcs-change"))
"""Effects whose words behind the first operand (branches, revisions) differ next time; force and deletion are rated high anyway."""
ROAMING = frozenset(("copy-to", "move", "link", "extract", "create", "append"))
"""Effects whose operands are sources and targets: all of them may be others in the same folder."""


def why_never(report: RiskReport, index: int) -> str:
    """Say why no rule may be proposed for program `index`, "" where one may."""
    run = report.programs[index]
    name = posixpath.basename(run.words[0]) if run.words else ""
    if not run.whole or any("…" in word for word in run.words):
        return f"what {name or 'it'} is given is only known when it runs"
    if run.remote:
        return f"{name} runs on another machine or in a container"
    if any("~" in word[:1] or not word.isprintable() for word in run.words):
        return f"the words of {name} cannot be written down for certain"
    for finding in medium_findings(report, index):
        if finding.effect is None:
            return finding.reason
        if finding.effect.kind in NEVER:
            return f"{name}: {NEVER[finding.effect.kind]}"
    return ""


def medium_findings(report: RiskReport, index: int) -> list[Finding]:
    """Return what speaks against program `index`."""
    return [found for found in report.findings if found.program == index and found.level is not Level.LOW]


def is_wrapper(report: RiskReport, index: int) -> bool:
    """Tell whether program `index` only starts another one of the command, with other rights."""
    kinds = {found.effect.kind for found in medium_findings(report, index) if found.effect is not None}
    return kinds <= _WRAPS and any(run.parent == index and not run.suspected for run in report.programs)


def drafts(report: RiskReport, index: int, place: Place) -> list[Rule]:
    """Rules without name, limit and examples, each of which may cover program `index`; the first that holds is the one."""
    run = report.programs[index]
    reading = reading_of(run.words)
    findings = medium_findings(report, index)
    kinds = sorted({found.effect.kind for found in findings if found.effect is not None})
    base = Rule(
        name="",
        action="allow",
        program=(_program(run, reading, place),),
        options=OptionTest(only=tuple(sorted(reading.names))),
        effects=tuple(kinds),
        via=_around(report, index),
        up_to=Level.MEDIUM if findings else Level.LOW,
    )
    verbs = reading.operands[: verb_count(reading)]
    if not findings and not run.elevated:
        return [replace(base, words=_words(verbs))]
    if kinds and all(_is_about_paths(kind) for kind in kinds) and len(reading.operands) > len(verbs):
        return _about_paths(base, run, findings, place, verbs)
    return _about_words(base, run, findings, place, verbs)


def verb_count(reading: Reading) -> int:
    """Count the operands that are sub-command words, as the knowledge tables have it."""
    from agent.risk.reader.words import Word
    from agent.risk.tables.options import Args, choose_case
    from agent.risk.tables.store import program as find_program

    table = find_program(reading.name)
    if table is None or not table.cases or not reading.operands:
        return 0
    args = Args()
    args.names = set(reading.names)
    args.operands = [Word(text, 0, 0) for text in reading.operands]
    rule, used = choose_case(table, args)
    return used if rule is not None else 1 if table.otherwise else 0


def _about_paths(
    base: Rule, run: ProgramRun, findings: list[Finding], place: Place, verbs: tuple[str, ...]
) -> list[Rule]:
    reading = reading_of(run.words)
    effects = [found.effect for found in findings if found.effect is not None]
    scopes = tuple(sorted({effect.scope for effect in effects}))
    targets = {target for effect in effects for target in effect.targets}
    roaming = all(effect.kind in ROAMING for effect in effects)
    deep = any(found.rule.endswith(".recursive") for found in findings)
    words = list(verbs)
    rest = list(reading.operands[len(verbs) :])
    while not roaming and len(rest) > 1 and rest[0] not in targets:  # the script of sed, the mode of chmod
        words.append(rest.pop(0))
    texts = [*rest, *(value for _, value in reading.values if not value.isdigit())]
    found = [_written(_folder(text, run, place, roaming=roaming, deep=deep), place) for text in texts]
    if not found or not all(found):
        return []
    return [replace(base, words=_words(words), paths=tuple(sorted(set(found))), scopes=scopes)]


def _about_words(
    base: Rule, run: ProgramRun, findings: list[Finding], place: Place, verbs: tuple[str, ...]
) -> list[Rule]:
    reading = reading_of(run.words)
    rest = reading.operands[len(verbs) :]
    inside = place.workspace and lies_in(run.cwd, place.workspace)
    here = _written(place.workspace if inside else run.cwd, place)
    values = tuple(sorted({value for _, value in reading.values}))
    if any(not value.isdigit() for value in values):
        base = replace(base, options=replace(base.options, values=values))
    exact = replace(base, words=_words(reading.operands), exact_words=True)
    found: list[Rule] = []
    kinds = {finding.effect.kind for finding in findings if finding.effect is not None}
    if kinds <= _OPEN and len(rest) > 1:
        found.append(replace(base, words=_words(reading.operands[: len(verbs) + 1])))
    if kinds == {"run"} and not verbs and len(rest) == 1 and _looks_like_path(rest[0]):
        script = _written(certain_path(rest[0], run.cwd), place)
        if script:
            found.append(replace(base, paths=(script,)))
    return [*found, *([replace(exact, paths=(here,))] if here else []), exact]


def _words(words: tuple[str, ...] | list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple((word,) for word in words)


def _is_about_paths(kind: str) -> bool:
    from agent.risk.tables.store import level_row

    try:
        return bool(level_row(kind).scopes)
    except KeyError:
        return False


def _program(run: ProgramRun, reading: Reading, place: Place) -> str:
    if not reading.by_path:
        return reading.name
    path = absolute(run.words[0], run.cwd)
    return _written(path, place) if lies_in(path, place.workspace) else path or run.words[0]


def _around(report: RiskReport, index: int) -> tuple[str, ...]:
    """Names of the programs around this one."""
    run = report.programs[index]
    names = set(run.via)
    for _ in range(len(report.programs)):
        if run.parent < 0:
            break
        run = report.programs[run.parent]
        names.add(reading_of(run.words).name)
    return tuple(sorted(names))


def _folder(text: str, run: ProgramRun, place: Place, *, roaming: bool, deep: bool) -> str:
    """The folder or path that a rule may name for `text`: the workspace where that is harmless, else what was named."""
    path = certain_path(text, run.cwd)
    if not path:
        return ""
    workspace = place.workspace
    inside = bool(workspace) and lies_in(path, workspace)
    if roaming and inside:
        return workspace
    if path != absolute(text, run.cwd):  # a wildcard: the folder it looks in, but never the whole workspace
        return path if inside and path != workspace else ""
    above = posixpath.dirname(path)
    if deep or (inside and above == workspace) or path == workspace or above in ("/", place.home):
        return path
    return above


def _looks_like_path(text: str) -> bool:
    return ("/" in text or "." in text.strip(".")) and "://" not in text


def _written(path: str, place: Place) -> str:
    """An absolute path as a rule has it: below `./` in the workspace, below `~/` in home."""
    if not path:
        return ""
    if place.workspace and lies_in(path, place.workspace):
        return "./" + path[len(place.workspace) :].strip("/")
    if place.home and path.startswith(place.home + "/"):
        return "~" + path[len(place.home) :]
    return path
