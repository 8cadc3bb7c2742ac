"""Programs that take the beginning of a sub-command for the whole of it: `btrfs sub del`, `ip ro`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation, Output
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
