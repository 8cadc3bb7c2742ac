"""Judge programs that take several commands on one line, of which the worst counts; options that act beside one that tells."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from agent.risk.reader.words import Invocation, Output
from agent.risk.tables.names import names
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_HELD = frozenset(("-n", "--no-act", "-h", "--help", "--version"))
_VERSION = frozenset(("-h", "--help", "-v", "--version"))
_REPAIRS = frozenset(("-f", "--fix"))  # whatever is odd in what it reads
_SHOWS, _SHOWN = names("sequences.shows"), names("sequences.shown")
_TAKES = {"unit": 1, "select": 1, "help": 1, "align-check": 2}


def parted(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """parted: behind the device stand commands with their words, the next one right behind the last."""
    words = [text for word in args.operands for text in word.text.split()]
    if not args.names.isdisjoint(_VERSION) or (not words and args.has("-l", "--list")):
        walker.reads = True
        return None, ""
    commands = words if words and words[0] in _SHOWS else words[1:]
    open_words = any(not (word.known or word.quoted) for word in args.operands)  # any number of commands
    # without a command, it asks for some
    if open_words or not commands or not args.names.isdisjoint(_REPAIRS) or _changes(commands):
        walker.add(table.effect, args.operands, invocation.place, invocation=invocation)
    else:
        walker.reads = True
    return None, ""


def _changes(commands: list[str]) -> bool:
    """Tell whether any of the commands is not known to show only; each may be shortened."""
    at = 0
    while at < len(commands):
        command = next((name for name in _SHOWS if commands[at] and name.startswith(commands[at])), "")
        if not command:
            return True
        at += 1 + _TAKES.get(command, 0)
        if command == "print" and at < len(commands) and (commands[at] in _SHOWN or commands[at].isdecimal()):
            at += 1
    return False


def several(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`chronyc -m COMMAND COMMAND`: each operand is a command of its own."""
    if args.has("-m") and any(word.text.partition(" ")[0] not in table.cases for word in args.operands):
        walker.add(table.effect, args.operands, invocation.place, invocation=invocation)
    return None


def beside_telling(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Options of which the last decides, or of which each is obeyed: what tells does not hold back what acts."""
    acts, telling = names(f"sequences.{table.name}"), args.names & table.dry
    if not telling or not any(_is_one_of(name, acts, table) for name in args.names) or not telling.isdisjoint(_HELD):
        return None
    walker.add(table.effect or "change", args.operands, invocation.place, invocation=invocation)
    return None, ""


_FEWEST = 5  # characters of a long option that is shortened


def _is_one_of(name: str, options: Set[str], table: Program) -> bool:
    """Tell whether an option is one of those, or may be short for one; where several begin so, the program would complain."""
    if name in options:
        return True
    shortened = len(name) >= _FEWEST and name[:2] == "--" and name not in table.longs
    return shortened and any(option.startswith(name) for option in options)
