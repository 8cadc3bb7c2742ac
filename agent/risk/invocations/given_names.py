"""Follow the names that a command gives itself: copies and links of programs, and links that lead elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.paths.search_path import STANDARD_FOLDERS
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.options import split_args
from agent.risk.tables.store import Program
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

NAMING = frozenset(("cp", "mv", "install", "ln"))
"""Tables of programs that give a file another name."""
ITSELF = re.compile(r"/proc/(?:self|thread-self|\d+|\0)/exe")
"""The program of the process that looks there: on a command line, the shell."""
_MAX_NAMES = 50
_MAX_STEPS = 8


def keep_names(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Remember what the names that `cp`, `mv`, `install` and `ln` make stand for."""
    args = split_args(invocation.words[1:], table)
    target = args.value("-t", "--target-directory")
    sources = args.operands if target is not None else args.operands[:-1] or args.operands
    if target is None:
        target = args.operands[-1] if len(args.operands) > 1 else Word(".", *invocation.place)
    for source in sources:
        known = source.known or ITSELF.fullmatch(source.text)
        if not known or not target.known or len(walker.names) >= _MAX_NAMES:
            continue
        base = source.text.rstrip("/").rpartition("/")[2]
        for place in (absolute(target.text, invocation.cwd), absolute(f"{target.text}/{base}", invocation.cwd)):
            folder = place.rpartition("/")[0] if args.has("-s", "--symbolic") else invocation.cwd
            leads = _program_path(source) or absolute(source.text, folder)
            if leads == place:
                continue
            if walker.fetched(leads, "/"):
                walker.downloads.add(place)
            if table.name == "ln":
                walker.rater.scopes.links[place] = leads
            if table.name == "ln" or leads in walker.names or leads.rpartition("/")[0] in STANDARD_FOLDERS:
                walker.names[place] = leads


def _program_path(source: Word) -> str:
    """Find a program whose name alone another command printed, as in `cp $(command -v rm) x`."""
    if ITSELF.fullmatch(source.text):
        return "/bin/bash"
    return f"/usr/bin/{source.text}" if "/" not in source.text and find_program(source.text) is not None else ""


def real_program(walker: Walker, invocation: Invocation) -> Invocation:
    """The command with the program that its first word stands for, where the text itself has given that name."""
    word = invocation.words[0]
    if "/" in word.text:
        path = absolute(word.text, invocation.cwd)
    else:
        path = next((place for place in walker.names if place.endswith(f"bin/{word.text}")), "")
        if not path and ("PATH" in walker.state.variables or any(name == "PATH" for name, _ in invocation.environment)):
            path = next((place for place in walker.names if place.endswith(f"/{word.text}")), "")
    steps = 0
    while path in walker.names and steps < _MAX_STEPS:
        path = walker.names[path]
        steps += 1
    if not steps or UNKNOWN in path or path.rpartition("/")[0] not in STANDARD_FOLDERS:
        return invocation
    reason = f"runs {{targets}}, a name that this command gives to {path}"
    walker.add("run-unknown", [word], invocation.place, reason=reason, rule="run.renamed")
    return invocation.inner([word.part(path), *invocation.words[1:]], word.text)
