"""Judge what stands beside an option that only tells (`tune2fs -l -O ^has_journal DEVICE`): the rest may still be done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.words import Invocation
from agent.risk.tables.names import names
from agent.risk.tables.options import Args, matches_options
from agent.risk.tables.store import CaseRule, Program, level_row
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

# What tells, and does not hold the program back from anything else, as `--dry-run` and `--help` do.
_TELLS = LazyPattern(r"-[lLpQsS]|--?(?:list|show|query|info|status|describe|display|summary|get|scan)(?:-[\w-]+)?")
_HOLDS = LazyPattern(
    r"-[nNhVst?]|--?(?:dry|help|version|check|simulate|no-?act|what-?if|just-print|noop|recon|test|plan)[\w-]*", re.I
)
# A value that says in which form something is told, whatever its option is called.
_FORM = LazyPattern(
    r"json|ya?ml|xml|toml|csv|tsv|text|plain|table|wide|html|hex|base64|md5|sha-?(?:1|224|256|384|512)|crc32|utf-?8|ascii",
    re.I,
)
_WRITES = frozenset(("write", "create", "append"))
_PART = LazyPattern(r"[a-z]+")
_QUIET = frozenset(("", "none", "read", "dry", "receive", "text"))


def judge_beside(walker: Walker, invocation: Invocation, table: Program, args: Args) -> tuple[CaseRule, ...]:
    """At least medium for an option that is not known to say only which, or how, something is told.

    Returns the effects of options that the table knows, and that the one that tells does not keep from happening.
    """
    telling = args.names & table.dry
    if not any(map(_HOLDS.fullmatch, telling)):
        for name, word in args.options:  # where it writes what it tells
            if word is not None and table.roles.get(name) in _WRITES and word.text != "-":
                walker.add(table.roles[name], [word], invocation.place, invocation=invocation)
    if not all(_only_tells(name, table) for name in telling):
        return ()
    done = tuple(
        rule
        for rule in table.flags
        if rule.effect not in _QUIET and telling.isdisjoint(_given(rule)) and matches_options(rule, args)
    )
    rated = {option for rule in done for option in _given(rule)}
    forms = {name for name, word in args.options if word is not None and _FORM.fullmatch(word.text)}
    others = args.names - telling - rated - forms if does_more(table) else set()
    more = [name for name in sorted(others) if not says_how(name) and table.roles.get(name, "") not in ("read", "text")]
    if more:
        reason = f"may do more than tell: {more[0][:30]} is not known to say only how"
        walker.add("change", [], invocation.place, level=Level.MEDIUM, reason=reason, rule="change.beside")
    if table.effect and not table.value.isdisjoint(more):
        walker.add(table.effect, args.operands, invocation.place, invocation=invocation)
    return done


def _only_tells(name: str, table: Program) -> bool:
    """Tell whether an option tells without holding back the rest: `-l`, but not the `-s` of a program with `--simulate`."""
    longs = (option for option in table.dry if name[1:2] == option[2:3] and option[:2] == "--" and len(name) == 2)
    return _TELLS.fullmatch(name) is not None and not any(map(_HOLDS.fullmatch, longs))


def _given(rule: CaseRule) -> set[str]:
    return {option for group in rule.options for option in group}


def does_more(table: Program) -> bool:
    """Tell whether the program changes something where it is not told to tell."""
    return any(
        kind not in _QUIET and (bool(level_row(kind).scopes) or level_row(kind).level != "L")
        for kind in (table.effect, table.otherwise, "" if table.cases else table.bare)
    )


def says_how(name: str) -> bool:
    """Tell whether an option says, by its name, which things are told or how: their place, their format, how much of them."""
    if len(name) == 2:
        return name[1] in names("beside.letters")
    parts = _PART.findall(name.lower())
    return bool(parts) and not names("beside.parts").isdisjoint(parts) and names("beside.verbs").isdisjoint(parts)
