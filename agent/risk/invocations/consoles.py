"""Judge what a program that reads commands is fed: each line as a sub-command of its own table, and what cannot be seen as anything."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args, choose_case, split_args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_KEPT = frozenset(("file", "dump", "opaque"))  # what lies in a file, packed or not
_BREAKS = LazyPattern(r"[\n;]|&&|\|\|")
_UNLISTED = ("run.subcommand", "run.unknown")
_KNOWN = ("data", "code")


def judge_fed(walker: Walker, invocation: Invocation, table: Program, before: int) -> None:
    """Findings for standard input that `table`'s program may take for commands; `before`: where those about it begin.

    Of a program that no table calls a reader of data only, nothing is low that it is fed where it is told nothing to do.
    """
    text, taint = invocation.stdin or ("", "")
    if table.input in _KNOWN or text == "" or (text is not None and not text.strip()):
        return
    found = walker.findings[before:]
    obeys = table.input == "commands"
    if any(one.level is Level.HIGH for one in found):
        return
    if not obeys and text and any(one.level is Level.MEDIUM for one in found):
        from agent.risk.inline.programs import judge_given_texts  # with readers of languages: rarely needed

        judge_given_texts(walker, invocation)
        return
    args = split_args(invocation.words[1:], table)
    rule, _ = choose_case(table, args)
    told = rule is not None and rule.effect != "console" if obeys else bool(args.operands)
    if told or not args.names.isdisjoint(table.dry):
        return
    if text is None or UNKNOWN in text:
        made = obeys and not _KEPT.intersection(taint.split())
        reason = "obeys commands that cannot be seen" + (" before another command has made them" if made else "")
        kind = "run-opaque" if made else "run"
        walker.add(kind, [], invocation.place, reason=reason, rule=f"{kind}.fed")
    elif obeys:
        walker.findings[before:] = [one for one in found if not _is_about_opening(one)]
    if text is None:
        return
    middle = len(walker.findings)
    judge_lines(walker, invocation, text, [word for word in args.operands if rule is None or rule.effect == "console"])
    if not obeys:
        walker.findings[middle:] = [one for one in walker.findings[middle:] if one.level is Level.HIGH]
        walker.add("run", [], invocation.place, reason="may do what it reads", rule="run.fed")


def _is_about_opening(finding: Finding) -> bool:
    """Tell whether a finding only says that the program is started, in which what it is fed then happens."""
    kind = finding.effect.kind if finding.effect is not None else ""
    return finding.rule in _UNLISTED or finding.rule.endswith(".any") or kind == "console"


def judge_given_lines(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """Judge commands in the program's own language that options hold (`fs_cli -x 'shutdown'`), or one word (`virsh 'undefine x'`)."""
    whole = args.operands[:3] if table.input == "commands" else []
    for word in (*args.values(*table.lines), *(word for word in whole if " " in word.text.strip())):
        judge_lines(walker, invocation, word.text, [])
    _judge_following(walker, invocation, table)


_ENDS = frozenset((";", "\\;", "--", ";;"))


# What stands behind `--` is always a command of their own.
_BY_DASHES = ("ovs-vsctl", "ovn-nbctl", "ovn-sbctl", "vtep-ctl")


def _is_own(word: Word) -> bool:
    return word.text.rpartition("/")[2] in _BY_DASHES


def _judge_following(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Judge commands behind a word that ends the one before: `nft list ruleset ';' flush ruleset`, `ovs-vsctl show -- del-br x`."""
    words = invocation.words
    for at, word in enumerate(words[2:], 2):
        following = words[at + 1 :]
        if table.input == "commands" and word.text not in _ENDS and (found := _BREAKS.search(word.text)):
            texts = [word.text[found.end() :], *(other.text for other in following)]
            behind = [word.part(text) for text in " ".join(texts).split()]
            if behind and behind[0].text in table.cases:
                _dispatch(walker, invocation, behind)
                return
        if following and (word.text in _ENDS or (word.text[-1:] == ";" and " " not in word.text)):
            first = next((other.text for other in following if other.text[:1] != "-"), "")
            if word.text == "--" and first not in table.cases and not _is_own(invocation.words[0]):
                continue
            _dispatch(walker, invocation, following)
            return


def judge_lines(walker: Walker, invocation: Invocation, text: str, given: list[Word]) -> None:
    """Judge each line of commands in the program's own language; in the room that `given` opens (`crm configure`) high counts."""
    for line in _BREAKS.split(text):
        plain = line.strip()
        if not plain or plain.startswith("#") or plain.lower() in names("consoles.fillers"):
            continue
        if plain.startswith("!"):
            walker.script(plain[1:], invocation.place, invocation)
            walker.add("run", [], invocation.place, reason="has it run a command of the shell", rule="run.fed")
            continue
        words = _words(plain, invocation)
        before = len(walker.findings)
        _dispatch(walker, invocation, words)
        if any(one.level is Level.HIGH for one in walker.findings[before:]):
            continue
        if given:
            middle = len(walker.findings)
            _dispatch(walker, invocation, [*given, *words])
            walker.findings[middle:] = [one for one in walker.findings[middle:] if one.level is Level.HIGH]
        unlisted = any(_is_about_opening(one) for one in walker.findings[before:])
        if unlisted and any(pattern("consoles.destroys").fullmatch(word.text) for word in words[:2]):
            reason = f"is told to {plain[:40]}".replace(UNKNOWN, "…")
            walker.add("destroy", [], invocation.place, reason=reason, rule="destroy.fed")


def _words(line: str, invocation: Invocation) -> list[Word]:
    try:
        texts = shlex.split(line)
    except ValueError:
        texts = line.split()
    return [Word(text, *invocation.place) for text in texts if text]


def _dispatch(walker: Walker, invocation: Invocation, words: list[Word]) -> None:
    if words:
        inner = invocation.inner([invocation.words[0], *words], "console")
        inner.stdin = None
        downloads = set(walker.downloads)
        walker.dispatch(inner)
        walker.downloads = downloads  # what a session brings is told by all of its lines
