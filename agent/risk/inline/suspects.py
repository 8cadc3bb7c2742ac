"""Judge the texts in code that is not understood: each may reach a shell by a way that nobody has listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.risk.inline.limits import first
from agent.risk.inline.patterns import patterns
from agent.risk.inline.programs import suspect_text
from agent.risk.inline.texts import joined, q_quoted
from agent.risk.reader.expansions import decode_ansi_c
from agent.risk.reader.invocation import Invocation
from agent.risk.tables.store import program as find_program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_FIRST_WORD = LazyPattern(r"\s*(?:[|!>-]{1,2}\s*)?(?:[A-Za-z_]\w*=\S*\s+)*\\?([\w./+-]+)[ \t]+\S")
_LONG_BRACKETS = LazyPattern(r"\[(=*)\[(.{1,2000}?)\]\1\]", re.S)
_LITERALS = LazyPattern(r"%[qQwWx]?(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|<([^>]*)>|\|([^|]*)\|)")
_LONGEST = 2_000
_DEEPEST = 3
_MOST_WORDS = 20
_LONGEST_INPUT = 20_000
_BARE = LazyPattern(r"[\w\s.,:/@=+-]*")  # without anything that could quote
_CALLED = LazyPattern(r"""\(\s*(['"])([A-Za-z_]\w{2,40})\1\s*\)\s*\(|\[\s*(['"])([A-Za-z_]\w{2,40})\3\s*\]\s*\(""")
_GIVING_AWAY = ("runs", "delete", "eval", "kill", "dynamic")
_NAME = LazyPattern(r"[A-Za-z_][\w.]*")
_STARTS = frozenset(("eval", "exec", "source", "command", "builtin", "trap"))


def judge_suspects(walker: Walker, invocation: Invocation, code: str) -> None:
    """Findings for texts that would be dangerous as commands, and for names that are put together of pieces."""
    whole, _ = joined(code)
    seen: set[str] = set()
    for text in first(walker, invocation, _commands(whole, _DEEPEST)):
        if text not in seen:
            seen.add(text)
            guessing, walker.programs.guessing = walker.programs.guessing, True
            suspect_text(walker, invocation, text)
            walker.programs.guessing = guessing
    if whole != code and _hides_a_name(code, whole):
        reason = "puts the name of what it calls together, which hides it"
        walker.add("run-opaque", [], invocation.place, reason=reason, rule="inline.put-together")


def _hides_a_name(code: str, whole: str) -> bool:
    """Whether the code gives itself away, or calls what a text names, only once its texts are put together."""
    return bool(_named(whole) - _named(code)) or len(_CALLED.findall(whole)) > len(_CALLED.findall(code))


def _named(code: str) -> set[str]:
    """The names by which code gives away that it starts programs, deletes or evaluates."""
    signs = patterns()
    found = (match.group() for sign in _GIVING_AWAY for match in signs[sign].finditer(code))
    return {name[0] for text in found if (name := _NAME.search(text))}


def _commands(code: str, depth: int) -> Iterator[str]:
    """The texts in `code` that begin like a command, and those within its texts."""
    for text in _texts(code):
        if (" " not in text and "\t" not in text) or len(text) >= _LONGEST:
            continue
        plain = decode_ansi_c(text) if "\\" in text else text
        if is_like_command(plain):
            yield plain
        if depth > 1 and plain != code:
            yield from _commands(plain, depth - 1)


def is_like_command(text: str) -> bool:
    """Whether a text begins with the name of a program that is known, and more behind it."""
    found = _FIRST_WORD.match(text)
    return found is not None and (found[1] in _STARTS or find_program(found[1].rpartition("/")[2]) is not None)


def _texts(code: str) -> Iterator[str]:
    for match in patterns()["string"].finditer(code):
        yield match.group("s")
    if "[[" in code or "[=" in code:
        for match in _LONG_BRACKETS.finditer(code):
            yield match[2]
    if "%" in code:
        for match in _LITERALS.finditer(code):
            yield next(filter(None, match.groups()), "")
    if "q" in code:
        yield from q_quoted(code)


def judge_given_texts(walker: Walker, invocation: Invocation) -> None:
    """What an unknown program is given, or reads, may be code in a language of its own: its texts are judged as in any code."""
    for word in invocation.words[1:_MOST_WORDS]:
        if " " in word.text and not _BARE.fullmatch(word.text):
            judge_suspects(walker, invocation, word.text)
    text = (invocation.stdin or ("", ""))[0]
    if text and len(text) < _LONGEST_INPUT and " " in text:
        judge_suspects(walker, invocation, text)
