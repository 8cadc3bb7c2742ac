"""Read sub-commands that are shortened (`btrfs sub del`), or stand behind options of which it is not known what they take with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import CaseRule, Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


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
    index = 1
    while index + 1 < len(words):
        taken = _taken(words[index].text, words[index + 1], table)
        if not taken:
            break
        index += taken
    return None if index == 1 else invocation.read_as([words[0], *words[index:]])


def _taken(option: str, following: Word, table: Program) -> int:
    """How many words an option in front of the sub-command may take, itself among them; 0 where that is known."""
    if option[:1] != "-" or option in _ENDS or "=" in option or following.text[:1] == "-":
        return 0
    if option in table.value:
        return 1 if following.text in table.cases else 0
    return 0 if _is_known(option, table) else 2


def _is_known(option: str, table: Program) -> bool:
    flags = [name for flag in table.flags for group in flag.options for name in group]
    return any(option in known for known in (table.longs, table.singles, table.dry, flags))
