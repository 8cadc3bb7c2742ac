"""Raise what a program runs by the way, through an option, a setting or an escape, from where everybody may put things."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.protocol.decisions import Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import Invocation, Output, join_taint
from agent.risk.tables.store import INTERPRETERS, WRAPPERS, Program, program
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_RUNNERS = (*WRAPPERS, *INTERPRETERS, "programs.remote_and_later:", "programs.containers:", "programs.find:")
_NAMES_SCRIPT = lazily(r"-\w|--?(?:file|script|load|source)")
NAMES_COMMAND = lazily(r"-\w*[ceEpPxXnrC](?:$|[^\w-])|--?(?:command|exec|eval|ok)")
PATH = lazily(r"(?<![\w./~-])(?:/|\.{1,2}/)[\w./@+-]+")
_OF_SYSTEM = lazily(r"/(?:usr|opt|var|etc|lib\w*|s?bin|srv|run|mnt|media|root)/")
_RUNS = frozenset(("run", "run-unknown", "run-opaque", "environment", "configure-system", "service-user"))
_LATER = frozenset(("schedule", "service-start", "service-user"))
# What tells all operands of a program, of which one is what it runs: rules of `run` with another last part.
_TELLS_ONE = lazily(
    r"run\.(?:path|script|setting|evaluated)|(?:escape|editor|git|inline|link|pager|openssl|make|tar|awk|sed|db)\..+|environment\.(?:run|load|path)"
)


def is_open(walker: Walker, text: str) -> bool:
    """Tell whether a path lies where everybody may put things, or out of sight in a folder of the system."""
    where = absolute(text, walker.state.cwd)
    return (where[:1] == "/" and walker.rater.scopes.public(f"{where}/")) or (
        "/." in where
        and text[:1] == "/"
        and bool(_OF_SYSTEM.match(where))
        and not where.startswith(f"{walker.rater.scopes.home}/")
    )


def open_path(walker: Walker, text: str) -> str:
    """The first path in a text that lies in the open; of several words only the program, and what an interpreter is given."""
    words = text.lstrip("|!&@ ").split(maxsplit=3)
    name = words[0].rpartition("/")[2] if len(words) > 1 else ""
    table = program(name)
    starts = words[
        : 2 if name in ("source", ".", "load", "import") or (table is not None and runs_anyway(table)) else 1
    ]
    return next((path for word in starts for path in PATH.findall(word) if is_open(walker, path)), "")


def raise_open(
    walker: Walker, invocation: Invocation | None, begin: int, *, runner: bool = False, edits: bool = False
) -> None:
    """Make high what was found from `begin` on to be run from the open, unless it stands there as a plain operand.

    `sh /tmp/x` shows what it runs; `sort --compress-program=/tmp/x` and `less '+!sh /tmp/x'` are for something else. What an editor
    loads (`edits`) is beside what it is started for.
    """
    for index in range(begin, len(walker.findings)):
        found = walker.findings[index]
        if found.level is Level.MEDIUM and found.effect is not None and found.effect.kind in _RUNS:
            _raise(walker, invocation, index, runner, edits)
        if found.level is Level.MEDIUM and found.effect is not None and found.effect.kind in _LATER and invocation:
            path = _given_from_open(walker, invocation)
            if path:
                reason = f"has {path[:60]} start by itself, which others could have put there"
                walker.findings[index] = replace(found, level=Level.HIGH, reason=reason)
                walker.programs.found(Level.HIGH)


def _given_from_open(walker: Walker, invocation: Invocation) -> str:
    """The path in the open that a program is given to be started later, or has read from: `crontab /tmp/x`, `cat /tmp/x | at now`."""
    if invocation.stdin is not None and "open" in invocation.stdin[1].split():
        return "what it reads"
    read = (target.word.text for target in invocation.redirects if target.operator == "<")
    given = (*(word.text for word in invocation.words[1:]), *read)
    return next((text for text in given if PATH.fullmatch(text) and is_open(walker, text)), "")


def with_place(walker: Walker, invocation: Invocation, output: Output) -> Output:
    """The output of a program, which may hold what lies in a file in the open that it was given."""
    text, taint = output
    given = [word.text for word in invocation.words[1:] if "/" in word.text] if text is None else []
    if given and any(PATH.fullmatch(each) and is_open(walker, each) for each in given):
        return None, join_taint(taint or "cmd", "open")
    return output


def _raise(walker: Walker, invocation: Invocation | None, index: int, runner: bool, edits: bool) -> None:
    found = walker.findings[index]
    if found.effect is None or not _TELLS_ONE.fullmatch(found.rule):
        return
    for target in found.effect.targets[:4]:
        path = open_path(walker, target)
        if path and not (invocation is not None and _is_plain(invocation, path, found.rule, runner, edits)):
            reason = f"has another program run {path[:60]}, which others could have put there"
            walker.findings[index] = replace(found, level=Level.HIGH, reason=reason)
            walker.programs.found(Level.HIGH)
            return


def _is_plain(invocation: Invocation, path: str, rule: str, runner: bool, edits: bool) -> bool:
    """Tell whether a path stands as a word of its own, is the script that an option names, or is in a command for what runs commands."""
    script = rule == "run.script" and (not edits or any(word.text.endswith("-script") for word in invocation.words))
    for before, word in pairwise(invocation.words):
        if path in word.text:
            if word.text == path:
                return script or runner or before.text[:1] != "-"
            option = word.text[: word.text.index(path)].rstrip("=") if word.text[:1] == "-" else before.text
            attached = word.text == f"{option}{word.text[len(option) : -len(path)]}{path}" and word.text[:1] == "-"
            if script and attached:
                return bool(_NAMES_SCRIPT.fullmatch(option))
            return runner and (option[:1] != "-" or bool(NAMES_COMMAND.match(option)))
    return runner


def runs_anyway(table: Program) -> bool:
    """Tell whether running what it is given is what a program is for, so that this is no way round."""
    return bool(table.wrap) or table.handler.startswith(_RUNNERS)
