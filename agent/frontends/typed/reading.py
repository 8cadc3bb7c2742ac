"""Tell a typed line that is a command of the person's own from a goal in plain words, and a name that is no program here."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from agent.frontends.line import Goal, OwnCommand
from agent.frontends.typed.evidence import Kind, Meanings, first_verbs, kind_of
from agent.frontends.typed.meanings import ENGLISH, NATURAL, NOT_ALONE, NOT_HERE, WRAPPERS
from agent.protocol.errors import InvalidRequest
from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Node, Pipeline, Sequence, Simple, WordNode

Chosen = Literal["", "command", "goal"]
_LONGEST = 20_000
_NAME = re.compile(r"[A-Za-z_][\w.+-]*\Z")
_OPTION_LIKE = re.compile(r"-{1,2}[A-Za-z?]|\+%")
_OF_A_WRAPPER = re.compile(r"-|\d+[smhd]?\Z|[A-Za-z_]\w*=")
_MOST_WRAPPERS = 5


class Typed(Struct, frozen=True):
    """A line as it reads: a command, a goal, either ("unsure"), or a command whose program is `missing` here; `near` has names like it."""

    kind: Literal["command", "goal", "unsure", "missing"]
    missing: str = ""
    near: tuple[str, ...] = ()


GOAL = Typed("goal")


def read_typed(text: str, around: Meanings) -> Typed:
    """Tell a command from a goal, by grammar and by what names mean here; nothing is run."""
    line = text.strip()
    if not line or len(line) > _LONGEST:
        return GOAL
    try:
        parser = Parser(line)
        tree = parser.parse()
    except BudgetError:
        return GOAL
    commands = _stages(tree)
    if parser.errors or parser.abandoned or not commands:
        return GOAL
    first = commands[0]
    if not isinstance(first, Simple):
        return Typed("command")  # `for … do … done`: only a shell says that
    if not first.words:
        return Typed("command") if first.assignments else GOAL
    question = line.endswith("?")
    later = [_name(each) for each in commands[1:]]
    joined = bool(later) and all(name is None or around.is_program(name) for name in later)
    return _simple(first, around, joined=joined, question=question, timed=line.startswith("time "), several=bool(later))


def _stages(tree: Sequence) -> list[Node]:
    """All commands of the line that are no part of another one."""
    found: list[Node] = []
    for _, node, _ in tree.items:
        found += node.commands if isinstance(node, Pipeline) else [node]
    return found


def _name(node: Node) -> str | None:
    """The program of a simple command; None where that is no plain word, or there is none."""
    return node.words[0].unquoted() if isinstance(node, Simple) and node.words else None


def _simple(first: Simple, around: Meanings, *, joined: bool, question: bool, timed: bool, several: bool) -> Typed:
    words = first.words
    for _ in range(_MOST_WRAPPERS):
        name = words[0].unquoted()
        if name is None:
            return Typed("command") if words[0].parts[0][0] in ("var", "cmd") else GOAL
        if name not in WRAPPERS or not around.is_program(name):
            break
        options, inner = _behind_wrapper(words[1:])
        if not inner:
            return Typed("command") if options or len(words) == 1 else GOAL
        program = inner[0].unquoted() or ""
        if not around.is_program(program):
            is_line = inner[0].literal() is None and " " in program
            return Typed("command") if is_line or (options and name != "watch") else GOAL
        words, joined, timed = inner, joined or options, True
    if name is None or len(first.words[0].parts) != 1 or (first.words[0].literal() is None and not around.exists(name)):
        return GOAL  # a goal in quotes
    return _of_program(name, words, first, around, joined=joined, question=question, timed=timed, several=several)


def _of_program(
    name: str,
    words: list[WordNode],
    first: Simple,
    around: Meanings,
    *,
    joined: bool,
    question: bool,
    timed: bool,
    several: bool,
) -> Typed:
    if name in NOT_HERE:
        return GOAL
    if not around.is_program(name):
        return _missing(name, words[1:], around, assigned=bool(first.assignments), several=several)
    if len(words) == 1:
        alone = not first.redirects and not joined and not timed
        return GOAL if name in NOT_ALONE and alone else Typed("command")
    if several and not joined and name in ENGLISH:
        return GOAL
    kind: Kind = kind_of(name, words[1:], first.redirects, around, joined=joined, question=question)
    return Typed(kind)


def _behind_wrapper(words: list[WordNode]) -> tuple[bool, list[WordNode]]:
    """Tell whether a wrapper has options, and find the command that it runs."""
    at = 0
    while at < len(words):
        text = words[at].unquoted()
        if text is None or not _OF_A_WRAPPER.match(text):
            break
        at += 1
    return at > 0, words[at:]


def _missing(name: str, words: list[WordNode], around: Meanings, *, assigned: bool, several: bool) -> Typed:
    """A line of this form is no goal, though its program is not here: options, or a sub-command, and no sentence."""
    from agent.risk.tables.store import program

    texts = [word.literal() or "" for word in words]
    if not _NAME.match(name) or any(text.lower().strip(",;:") in NATURAL for text in (name, *texts)):
        return GOAL
    with_options = assigned or any(_OPTION_LIKE.match(text) for text in texts)
    near = around.nearest(name)
    if texts and not with_options:
        files = all(around.exists(text) for text in texts)
        near = tuple(
            each for each in near if texts[0] in first_verbs(each) or (files and each not in ENGLISH and program(each))
        )
    elif not texts:
        near = tuple(each for each in near if each not in ENGLISH and program(each) is not None and not several)
    known = with_options and name not in ENGLISH and program(name) is not None
    return Typed("missing", name, near) if near or known else GOAL


def not_found(typed: Typed) -> str:
    """`gti: not found; git?`."""
    return f"{typed.missing}: not found" + (f"; {', '.join(typed.near)}?" if typed.near else "")


def decided(line: Goal, around: Meanings, chosen: Chosen = "") -> Goal | OwnCommand:
    """The line as a goal or as the person's own command. Raises InvalidRequest for a command whose program is not here."""
    if chosen == "goal" or not line.text.strip():
        return line
    typed = read_typed(line.text, around)
    if chosen == "command" or typed.kind in ("command", "unsure"):
        return OwnCommand(line.text, unlisted=line.unlisted, asked=typed.kind == "unsure" and not chosen)
    if typed.kind == "missing":
        raise InvalidRequest(not_found(typed), hint=f"`:prompt {line.text}` sends it as a goal")
    return line
