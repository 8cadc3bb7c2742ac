"""Read sub-commands: shortened, behind unknown options, or telling a program that nothing is known about to destroy."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import CaseRule, Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_ALL = LazyPattern(r"--(?:all|purge|everything|all-namespaces)")
_DELETES = LazyPattern(r"(?:[\w.-]+[:.])?(?:delete|remove|destroy|drop|rm|flush)", re.I)
_DELETES_ONE = LazyPattern(r"(?:[\w-]+:)*(?:batch-?)?(?:delete|destroy|remove)(?:-\w+)*")
_UNSEEN = ("run.", "run-", "serve.", "change.", "cluster-change.", "cloud-change.", "remote-change.", "package-remove.")
_UNLISTED = frozenset(("run.subcommand", "cluster-change.any", "cloud-change.any", "remote-change.any"))
_WORDS = 6  # the verb of a program stands among its first words
_ASKS = frozenset(("help", "plan"))


def judge_named_destruction(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """`tool destroy prod`, `rails db:drop`: a finding where words of a program say more than is known about it.

    `found` is what was found about it so far.
    """
    if Level.HIGH in [finding.level for finding in found]:
        return
    if not [finding for finding in found if finding.rule.startswith(_UNSEEN)]:
        return
    words = [
        word
        for before, word in pairwise(invocation.words)
        if not (len(before.text) == 2 and before.text[0] == "-" and before.text != "--")
    ]
    texts = [word.text for word in words]
    if not _ASKS.isdisjoint(texts):
        return
    operands = [word for word in words if not word.text.startswith("-")][:_WORDS]
    unlisted = any(finding.rule in _UNLISTED for finding in found)  # of a program that we know
    everything = any(_ALL.fullmatch(text) for text in texts)
    strong = pattern("destruction.strong")
    for word in operands:
        if (
            strong.fullmatch(word.text)
            or (everything and _DELETES.fullmatch(word.text))
            or (unlisted and _DELETES_ONE.fullmatch(word.text))
        ):
            reason = f"is told to {word.text[:40]}, and what that affects is unknown"
            unknown = any(finding.rule == "run.unknown" for finding in found)
            level = Level.MEDIUM if unknown else None
            walker.add("destroy", [word], invocation.place, level=level, reason=reason, rule="destroy.named")
            return


def written_out(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Writes shortened sub-commands out as the table has them; everything else is as the table says."""
    rules = [rule for rules in table.cases.values() for rule in rules]
    for index, word in enumerate(args.operands[:5]):
        rules = [rule for rule in rules if len(rule.verbs) > index]
        verb = full_verb(word.text, {rule.verbs[index] for rule in rules})
        if verb and verb != word.text:
            args.operands[index] = word.part(verb)
        rules = [rule for rule in rules if leads(rule, index, verb)]
    return None


def leads(rule: CaseRule, index: int, verb: str) -> bool:
    return rule.verbs[index] in (verb, "*")


def full_verb(text: str, verbs: set[str]) -> str:
    """The verb that `text` is or begins; `text` itself where that is none, or could be several."""
    if text in verbs or not text:
        return text
    candidates = sorted((verb for verb in verbs if verb.startswith(text)), key=len)
    if candidates and all(verb.startswith(candidates[0]) for verb in candidates):
        return candidates[0]
    return text


_FEWEST = 4  # program, option, value, sub-command
_ENDS = ("-", "--")


def without_first_options(invocation: Invocation, table: Program) -> Invocation | None:
    """The other way to read it: an unknown option takes a value, one that takes a value elsewhere is a switch before a sub-command.

    None where nothing of that kind stands there.
    """
    words = invocation.words
    if len(words) < _FEWEST or not table.cases:
        return None
    index, kept, doubted = 1, words[:1], False
    while index + 1 < len(words):
        if _is_switch(words[index].text, table):
            kept.append(words[index])
            index += 1
            continue
        taken = _taken(words[index].text, words[index + 1], table)
        if not taken:
            break
        index, doubted = index + taken, True
    return invocation.read_as([*kept, *words[index:]]) if doubted else None


def _is_switch(option: str, table: Program) -> bool:
    """Tell whether a long option takes no value in any program, by what it is called: `--no-pager`, `--quiet`."""
    if option[:2] != "--" or option in table.value:
        return False
    return option.startswith("--no-") or option[2:] in names("switches.words")


def _taken(option: str, following: Word, table: Program) -> int:
    """Count the words that an option in front of the sub-command may take, itself among them; 0 where that is known."""
    if option[:1] != "-" or option in _ENDS or "=" in option or following.text[:1] == "-":
        return 0
    if option in table.value:
        return 1 if following.text in table.cases else 0
    return 0 if _is_known(option, table) else 2


def _is_known(option: str, table: Program) -> bool:
    flags = [name for flag in table.flags for group in flag.options for name in group]
    return any(option in known for known in (table.longs, table.singles, table.dry, flags))
