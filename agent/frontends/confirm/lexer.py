"""Colour shell text in the prompt. It only colours: what a command means is the classifier's business."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from agent.text.lazy_pattern import lazily

LIMIT = 20_000

_TOKENS = r"""
    (?P<comment>(?:(?<=\s)|^)\#[^\n]*)
  | (?P<string>'[^']*'? | \$?"(?:\\.|[^"\\])*"?)
  | (?P<variable>\$(?:\w+|\{[^}\n]*\}?|[@*\#?$!-]))
  | (?P<operator>\|\|?&? | &&? | ;;? | \d?[<>]{1,3}&?(?:\d|-)? | [(){}])
  | (?P<space>\s+)
  | (?P<option>(?:(?<=\s)|^)--?[A-Za-z][\w-]*)
  | (?P<word>(?:\\.|[^\s'"$|&;<>(){}\\])+)
  | (?P<other>.)
"""


_PATTERN = lazily(_TOKENS, re.VERBOSE | re.DOTALL)


def shell_fragments(text: str) -> StyleAndTextTuples:
    """`text` in styled pieces; their concatenation is `text`."""
    out: StyleAndTextTuples = []
    expects_command = True
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or "other"
        piece = match.group()
        style = f"class:sh.{kind}" if kind in ("comment", "string", "variable", "operator", "option") else ""
        if kind == "word":
            assignment = expects_command and re.match(r"\w+=", piece)
            style = "class:sh.command" if expects_command and not assignment else ""
            expects_command = bool(assignment)
        elif kind == "operator":
            expects_command = piece[0] not in "<>" and not piece[0].isdigit()
        elif kind == "space":
            expects_command = expects_command or "\n" in piece
        elif kind in ("string", "variable"):
            expects_command = False
        out.append((style, piece))
    return out


class ShellLexer(Lexer):
    """Colours the whole text at once (strings go over lines); long texts stay plain. `slots`: what has to be filled in."""

    def __init__(self, slots: tuple[str, ...] = ()) -> None:
        self._slots = slots

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        if len(document.text) > LIMIT:
            lines = document.lines
            return lambda number: [("", lines[number])] if number < len(lines) else []
        split = _lines(document.text, self._slots)
        return lambda number: split[number] if number < len(split) else []


@lru_cache(maxsize=4)
def _lines(text: str, slots: tuple[str, ...] = ()) -> list[StyleAndTextTuples]:
    lines: list[StyleAndTextTuples] = [[]]
    for fragment in _with_slots(text, slots):
        style, piece = fragment[0], fragment[1]
        first, *rest = piece.split("\n")
        lines[-1].append((style, first))
        for part in rest:
            lines.append([(style, part)])
    return lines


def _with_slots(text: str, slots: tuple[str, ...]) -> StyleAndTextTuples:
    """The pieces of a text whose slots are marked; the shell would take "<file>" for redirections."""
    if not slots:
        return shell_fragments(text)
    out: StyleAndTextTuples = []
    for piece in re.split(f"({'|'.join(map(re.escape, slots))})", text):
        out += [("class:sh.slot", piece)] if piece in slots else shell_fragments(piece)
    return out
