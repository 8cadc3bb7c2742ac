"""Read a command without the options in front of its sub-command, where it cannot be told what these take with them."""

from __future__ import annotations

from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.risk.tables.store import Program

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
