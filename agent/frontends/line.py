"""Parse a typed line: a goal, a command of ours, the person's own shell command, or good-bye. Pure."""

from __future__ import annotations

from msgspec import Struct

from agent.commands.registry import holds_secret, parse_meta
from agent.protocol.commands import Command, NamedCommand

EXIT_WORDS = frozenset({"exit", "quit"})
_JOB_WORDS = frozenset({"fg", "jobs"})  # the shell that runs commands has no jobs of its own


class Nothing(Struct, frozen=True):
    """A blank line."""


class Leave(Struct, frozen=True):
    """The person wants to go."""


class Goal(Struct, frozen=True):
    """Words for the planner. `unlisted`: typed with a blank in front, so no history lists it."""

    text: str
    unlisted: bool = False


class OwnCommand(Struct, frozen=True):
    """`!cmd`, or a line that is a command; a `private` one (`!!cmd`) stays out of what planners see. `asked`: it never runs unasked
    for having been typed.
    """

    command: str
    private: bool = False
    unlisted: bool = False
    asked: bool = False


class CommandLine(Struct, frozen=True):
    """A command of ours, for the engine."""

    command: Command


Line = Nothing | Leave | Goal | OwnCommand | CommandLine


def parse_line(text: str) -> Line:
    """Tell commands, goals and the rest apart. Raises InvalidRequest for a known command with bad arguments.

    Goals and own commands keep their text as it was typed, apart from blanks at both ends.
    """
    stripped = text.strip()
    if not stripped:
        return Nothing()
    if stripped.lower() in EXIT_WORDS:
        return Leave()
    unlisted = text[0].isspace()
    if stripped.startswith("!"):
        private = stripped.startswith("!!")
        command = stripped[2 if private else 1 :].strip()
        return OwnCommand(command, private, unlisted) if command else Nothing()
    if stripped.split()[0] in _JOB_WORDS and all(word.lstrip("%").isdigit() for word in stripped.split()[1:]):
        stripped = f":{stripped}"
    # Commands are one line long; a text of several lines that starts with a dot is a goal.
    meta = parse_meta(stripped) if "\n" not in stripped else None
    if meta is None:
        return Goal(stripped, unlisted)
    return Leave() if meta == NamedCommand("quit") else CommandLine(meta)


def prompt_command(text: str) -> str:
    """The name of a command of ours that stands where a shell's command is wanted: `:undo`; "" for what a shell may know (`: > file`)."""
    name = text.strip().partition(" ")[0]
    return name if name[:1] == ":" and name[1:].replace("-", "").isalpha() else ""


def is_recorded(text: str) -> bool:
    """Tell whether a line goes into the history: not with a blank in front, not private ones, not good-bye, no secret."""
    stripped = text.strip()
    if not stripped or text[0].isspace() or text.startswith("!!") or holds_secret(text):
        return False
    return stripped.lower() not in (*EXIT_WORDS, ":q", ":quit", ":exit")
