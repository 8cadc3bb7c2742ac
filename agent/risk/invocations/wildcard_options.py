"""Judge wildcards that match names which begin with a dash: the program takes those for options (`tar cf a.tar *`).

Which names there are, the facts say, and the command itself where it makes them (`touch -- -rf; rm *`); without them nothing is said, since
`ls *` is what everybody writes.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level, worst
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import UNKNOWN, Word
from agent.risk.tables.scopes import absolute
from agent.risk.tables.store import program as find_program
from agent.text.visible import make_visible

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

UNREAD = "…"
"""Stands for names that were not looked at, in a folder that has too many."""

_PLAIN = frozenset(("echo", "printf", "pwd"))  # what they take for options changes nothing
_SHOWN = 3


def judge_wildcard_options(walker: Walker, name: str, invocation: Invocation) -> None:
    """Judge a program as it runs when the files that its wildcards match are given as options: at least medium."""
    if name in _PLAIN:
        return
    words = invocation.words[:1]
    matched: list[str] = []
    wildcard = words[0]
    looked_at = _where_options_are_read(name, invocation)
    for word in looked_at:
        found = _matched(walker, word, invocation.cwd) if word.glob else []
        words += [Word(one, word.start, word.end) for one in found if one != UNREAD]
        words.append(Word(word.text, word.start, word.end) if found else word)  # not to be looked at again
        wildcard = word if found else wildcard
        matched += found
    if not matched:
        return
    words += invocation.words[1 + len(looked_at) :]
    before = len(walker.findings)
    walker.dispatch(invocation.read_as(words))
    level = worst((Level.MEDIUM, *(finding.level for finding in walker.findings[before:])))
    del walker.findings[before:]
    shown = ", ".join(make_visible(one)[:60] for one in matched[:_SHOWN]) + (
        " and more" if len(matched) > _SHOWN else ""
    )
    reason = f"{make_visible(wildcard.text)} matches {shown}, which {make_visible(name)} takes for options"
    if matched == [UNREAD]:
        reason = f"{make_visible(wildcard.text)} matches more names than were looked at; {make_visible(name)} may take some for options"
    walker.add("run-unknown", [wildcard], invocation.place, level=level, reason=reason, rule="run.wildcard")


def _where_options_are_read(name: str, invocation: Invocation) -> list[Word]:
    """The words behind the program's name in which it looks for options."""
    table = find_program(name)
    ordered = table is not None and (table.style == "posix" or bool(table.wrap))
    words: list[Word] = []
    for word in invocation.words[1:]:
        if word.text == "--":
            break
        words.append(word)
        if ordered and not word.text.startswith("-"):
            break
    return words


def _matched(walker: Walker, word: Word, cwd: str) -> list[str]:
    """Names beginning with a dash that a wildcard matches in the folder where the program runs: there, or made by the same command."""
    if "/" in word.text:
        return []
    made = sorted(
        path.rpartition("/")[2] for path in walker.files.option_names if path.rpartition("/")[0] == absolute(".", cwd)
    )
    there = [found.text for found in matched_names(walker, word, cwd, "option")]
    return [*(name for name in made if fnmatchcase(name, word.text) and name not in there), *there]


def matched_names(walker: Walker, word: Word, cwd: str, fact: str) -> list[Word]:
    """The names of one kind that a wildcard matches, as facts tell them: "option", or "magic" for what perl would run or write."""
    if not word.glob or UNKNOWN in word.text or UNKNOWN in cwd:
        return []
    known = walker.rater.context.facts.get(absolute(word.text, cwd), ())
    named = [one.partition("=") for one in known]
    return [Word(value, word.start, word.end) for name, _, value in named if name == fact]
