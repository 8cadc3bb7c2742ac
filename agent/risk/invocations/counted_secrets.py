"""Leave out secrets of which a pipeline shows nothing but how many there are: `env | wc -l`, `printenv | grep -q X`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.invocation import Output
from agent.risk.reader.tree import Node, Simple
from agent.risk.reader.words import NUMBER

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_SHOWS = frozenset(("env", "printenv"))
_HANDS_ON = frozenset(("grep", "egrep", "fgrep", "sort", "uniq", "cut", "head", "tail", "tr", "cat"))
_SILENT = frozenset(("-q", "--quiet", "--silent"))
_GREPS = frozenset(("grep", "egrep", "fgrep"))


def leave_out_counted(walker: Walker, commands: list[Node], printed: list[Output], first: int) -> None:
    """Drop what was found from `first` on about showing an environment, where what reads it prints a number or nothing.

    `printed` is what each command writes, before any redirection.
    """
    if not all(isinstance(command, Simple) for command in commands) or _name(commands[0]) not in _SHOWS:
        return
    if any(redirect.fd != "2" for redirect in commands[0].redirects):
        return
    for command, output in zip(commands[1:], printed[1:], strict=True):
        if output[1] == NUMBER or (_name(command) in _GREPS and not _SILENT.isdisjoint(_words(command))):
            _drop(walker, first)
            return
        if _name(command) not in _HANDS_ON or command.redirects or any("/" in word for word in _words(command)):
            return


def _drop(walker: Walker, first: int) -> None:
    found = walker.findings[first:]
    told = [finding for finding in found if finding.effect is not None and finding.effect.kind == "secret"]
    walker.findings[first:] = kept = [finding for finding in found if finding not in told]
    for program in {finding.program for finding in told if finding.program >= 0}:
        levels = [finding.level for finding in kept if finding.program == program]
        walker.programs.levels[program] = max(levels, key=lambda level: level.rank, default=Level.LOW)


def _name(command: Node) -> str:
    words = _words(command)
    return words[0] if words else ""


def _words(command: Node) -> list[str]:
    return [word.unquoted() or "" for word in command.words] if isinstance(command, Simple) else []
