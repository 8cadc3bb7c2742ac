"""Propose rules that would let one confirmed command run without asking next time. Pure.

Each rule is proved before it is offered: it covers its program in this very command, its example matches when read from a file, and
near misses that are worse do not. Where no such rule can be written, the reason is said instead.
"""

from __future__ import annotations

import posixpath
import re
import shlex

from msgspec import Struct
from msgspec.structs import replace

from agent.policy.covering import coverage, failing_example
from agent.policy.deciding import breach
from agent.policy.drafting import ROAMING, drafts, is_wrapper, verb_count, why_never
from agent.policy.matching import covers
from agent.policy.model import RUNS_UNASKED, Action, OptionTest, Place, Rule
from agent.policy.parse import parse_policy
from agent.policy.reading import lies_in, reading_of
from agent.policy.rule_text import as_toml
from agent.protocol.decisions import Level, ProgramRun, RiskReport

_DOINGS: dict[str, tuple[str, ...]] = {
    "deleting": ("delete", "delete-empty", "shred", "truncate", "discard", "discard-one"),
    "writing": ("create", "write", "append", "modify", "copy-to", "move", "link", "extract", "truncate", "download"),
    "changing": ("write", "append", "modify", "copy-to", "move", "extract", "truncate", "delete", "shred", "chmod", "chown"),
    "sending": ("send", "send-secret", "push", "force-push", "publish"),
    "downloading": ("download", "run-remote", "run-package"),
    "installing": ("package-install",),
    "removing-packages": ("package-remove", "package-core"),
    "killing": ("kill", "kill-wide"),
    "elevating": ("elevate", "elevate-shell"),
    "reading-secrets": ("secret", "send-secret"),
    "unknown": ("run-unknown",),
}  # fmt: skip
"""Deeds of a command, as people say them, and the effects that each means (docs/effects.md)."""
DOINGS = tuple(_DOINGS)


def rule_from_words(action: Action, text: str, *, taken: tuple[str, ...] = ()) -> Rule:
    """A rule about all that does something (one of `DOINGS`), or about a program and its first words; `in PATH...` at the end limits it.

    `taken`: names that are used already. Raises ValueError, saying what is missing.
    """
    words = shlex.split(text)
    at = len(words) - 1 - words[::-1].index("in") if "in" in words else len(words)
    what, paths = words[:at], tuple(words[at + 1 :])
    if not what or (at < len(words) and not paths):
        raise ValueError(f"name a command, or one of {', '.join(DOINGS)}; then, if you like, `in` and a folder")
    for path in paths:
        if not path.startswith(("/", "~/", "./")):
            raise ValueError(f"{path}: a path begins with /, ~/ or ./ (this workspace)")
    if what[0] in _DOINGS and len(what) > 1:
        raise ValueError(f"{what[0]} says what is done, so only `in` and a folder may follow")
    effects = _DOINGS.get(what[0], ())
    return Rule(
        name=free_name(f"{action} {' '.join(what)}{' in ' if paths else ''}{' '.join(paths)}", taken),
        action=action,
        program=("*",) if effects else (what[0],),
        words=tuple((word,) for word in what[1:] if not word.startswith("-")),
        options=OptionTest(all=tuple(word for word in what[1:] if word.startswith("-"))),
        paths=paths,
        effects=effects,
    )


def free_name(words: str, taken: tuple[str, ...]) -> str:
    """A name for a rule made of `words`, not one of `taken`."""
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-") or "rule"
    name, number = slug, 2
    while name in taken:
        name, number = f"{slug}-{number}", number + 1
    return name


MOST_RULES = 6


class Offer(Struct, frozen=True):
    """`rules` that together cover what is asked for, without any limit; or none, and `reason` says why."""

    rules: tuple[Rule, ...] = ()
    reason: str = ""


def propose(
    report: RiskReport, place: Place, *, mode: str = "ask", taken: tuple[str, ...] = (), exact: bool = False
) -> Offer:
    """Rules for the programs of `report` that approve mode `mode` would ask for. `taken`: names that are used already.

    `exact`: for these words and no others, as they were written down for that.
    """
    up_to = RUNS_UNASKED.get(mode)
    reason = _why_nothing(report, up_to)
    if reason:
        return Offer(reason=reason)
    rules: list[Rule] = []
    for index, run in enumerate(report.programs):
        if run.suspected or is_wrapper(report, index):
            continue
        if up_to is not None and run.level.rank <= up_to.rank and not _behind_wrapper(report, index):
            continue
        reason = why_never(report, index)
        rule = None if reason else _proved(report, index, place, exact=exact)
        if rule is None:
            name = reading_of(run.words).name if run.words else "a program"
            return Offer(reason=reason or f"no rule was found for {name} that covers this and nothing worse")
        if _bare(rule) not in map(_bare, rules):
            rules.append(replace(rule, name=_name(report, index, (*taken, *(other.name for other in rules)))))
    if not rules:
        return Offer(reason="there is no program in it that a rule could be about")
    if len(rules) > MOST_RULES:
        return Offer(reason=f"it would take {len(rules)} rules; make a script of it, and allow that")
    whole = coverage([replace(rule, workspace=place.workspace) for rule in rules], report, place, up_to=up_to)
    if whole.why_not:
        return Offer(reason=whole.why_not)
    written = parse_policy(as_toml(tuple(rules)), path="rule", trust="user", home=place.home)
    return Offer(reason=f"the rule cannot be written: {written.error}") if written.error else Offer(rules=tuple(rules))


def _bare(rule: Rule) -> Rule:
    return replace(rule, name="", match=(), not_match=())


def _behind_wrapper(report: RiskReport, index: int) -> bool:
    """Tell whether a wrapper that is asked for by itself (sudo) is carried by the rule on this program alone."""
    parent = report.programs[index].parent
    return parent >= 0 and report.programs[parent].level is Level.MEDIUM and is_wrapper(report, parent)


def _why_nothing(report: RiskReport, up_to: Level | None) -> str:
    if report.level is Level.HIGH:
        return "high risk is never allowed without a person"
    if breach(report) is not None:
        return "no rule opens the floor of the policy"
    if report.parse != "ok" or report.cut:
        return "it could not be read to its end"
    for finding in report.findings:
        if finding.program < 0 and (up_to is None or finding.level.rank > up_to.rank):
            return f"no rule on a program can cover this: {finding.reason}"
        if finding.level is not Level.LOW and finding.rule.startswith("deception."):
            return f"no rule covers what may hide something: {finding.reason}"
    return ""


def _proved(report: RiskReport, index: int, place: Place, *, exact: bool) -> Rule | None:
    """The first draft that holds, with its examples."""
    run = report.programs[index]
    found = drafts(report, index, place)
    if exact:  # paths that are not just the folder of what was named say which, too
        words = tuple((text,) for text in reading_of(run.words).operands)
        named = [draft for draft in found if draft.paths and not ROAMING.issuperset(draft.effects)]
        found = [*named, *(replace(draft, words=words, exact_words=True) for draft in found)]
    for draft in found:
        rule = replace(draft, name="draft", workspace=place.workspace)
        if covers(rule, index, report, place).says != "yes":
            continue
        matching = next((text for text in _texts(report, index, place) if _holds(rule, place, match=(text,))), "")
        if not matching:
            continue
        text = shlex.join(run.words)
        misses = [miss for miss in _near_misses(draft, run) if miss != text and _holds(rule, place, not_match=(miss,))]
        if misses:
            return replace(draft, match=(matching,), not_match=tuple(misses[:2]))
    return None


def _holds(rule: Rule, place: Place, *, match: tuple[str, ...] = (), not_match: tuple[str, ...] = ()) -> bool:
    return not failing_example(replace(rule, match=match, not_match=not_match), place.home)


def _texts(report: RiskReport, index: int, place: Place) -> list[str]:
    """Return what may stand as the example of program `index`: as it was written, else as it would be run."""
    run = report.programs[index]
    root = run
    while root.parent >= 0:
        root = report.programs[root.parent]
    written = report.command[root.span[0] : root.span[1]].strip()
    texts = [text for text in (written, shlex.join(run.words)) if text and text.isprintable() and len(text) <= 500]
    if not place.workspace or run.cwd == place.workspace:
        return texts
    there = run.cwd
    if lies_in(there, place.workspace):
        there = posixpath.relpath(there, place.workspace)
    return [f"cd {shlex.quote(there)} && {text}" for text in texts]


def _near_misses(rule: Rule, run: ProgramRun) -> list[str]:
    """Commands like the one allowed that the rule must not let through: the more interesting ones first."""
    words = list(run.words)
    reading = reading_of(run.words)
    found = [[*words, option] for option in _risky_options(reading.name, reading.operands)]
    if rule.paths and rule.scopes and reading.operands:
        last = reading.operands[-1]
        outside = [f"../{posixpath.basename(last.rstrip('/')) or 'x'}", "/etc/hosts"]
        found += [[other if word == last else word for word in words] for other in outside]
    if rule.words:
        last = rule.words[-1][0]
        found.append([f"{last}-other" if word == last else word for word in words])
    if rule.exact_words:
        found.append([*words, "other"])
    if not rule.words and not rule.exact_words and rule.paths and not rule.scopes:
        last = reading.operands[-1] if reading.operands else ""
        found.append(["../other" if word == last else word for word in words])
    found.append([*words, "--any-other-option"])
    found.append(["sudo", *words])
    return list(dict.fromkeys(shlex.join(miss) for miss in found))


def _risky_options(name: str, operands: tuple[str, ...]) -> list[str]:
    """Options that the knowledge table rates higher than the sub-command without them."""
    from agent.risk.tables.store import level_row
    from agent.risk.tables.store import program as find_program

    table = find_program(name)
    if table is None:
        return []
    cases = table.cases.get(operands[0], ()) if operands else ()
    found = []
    for case in (*cases, *table.flags):
        try:
            high = case.level == "high" or (not case.level and level_row(case.effect).level == "H")
        except KeyError:
            continue
        if high and len(case.options) == 1:
            longest = max(case.options[0], key=len)
            if longest[0] == "-" and "=" not in longest:
                found.append(longest)
    return found[:3]


def _name(report: RiskReport, index: int, taken: tuple[str, ...]) -> str:
    """A name of the program and its first words, not in use yet."""
    reading = reading_of(report.programs[index].words)
    parts = [reading.name, *reading.operands[: max(verb_count(reading), 1)]]
    return free_name(" ".join(parts), taken)
