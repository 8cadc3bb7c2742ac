"""Judge macro processors and what prepares text by macros: definitions on the command line are text of the language too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import shell_text
from agent.risk.inline.programs import is_like_command, suspect_text
from agent.risk.reader.words import Invocation, Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_DEFINES = LazyPattern(r"(?:-D|--define=?)(.*)", re.S)
_CALLS = LazyPattern(r"sys(?:cmd|tem)\b")
_ARGUMENT = LazyPattern(r"sys(?:cmd|tem)['\"`\s]*[(,](.*)", re.S)
_EXECUTES = LazyPattern(r"(?m)#\s*exec\s+(.+)")
_QUOTED = LazyPattern(r"`([^`']{1,2000})'")
_QUOTES = "`'\"() \n"
_LONGEST = 20_000


def macros(walker: Walker, invocation: Invocation, word: Word) -> None:
    """All text that is expanded: definitions among the words, standard input, files that the line itself writes."""
    words = invocation.words
    defined: list[str] = []
    for index, other in enumerate(words[1:], 1):
        if found := _DEFINES.fullmatch(other.text):
            given = found[1] or (words[index + 1].text if index + 1 < len(words) else "")
            defined.append(given.partition("=")[2])
    read = [walker.files.read(other, invocation.cwd) for other in words[1:]]
    known = [*defined, *(content[0] for content in (invocation.stdin, *read) if content is not None and content[0])]
    whole = "\n".join(known)[:_LONGEST]
    if not (_CALLS.search(whole) or _EXECUTES.search(whole)):
        return
    for text in known:
        called = _ARGUMENT.search(text)
        while called:
            inside, rest = _closed(called[1])
            shell_text(walker, invocation, word.part(inside.strip(_QUOTES)))
            called = _ARGUMENT.search(rest)
        for found in _EXECUTES.finditer(text):
            shell_text(walker, invocation, word.part(found[1]))
    for text in (
        *defined,
        *(quoted[1] for quoted in _QUOTED.finditer(whole)),
    ):  # what is run may be put together of others
        if is_like_command(text):
            suspect_text(walker, invocation, text)


def _closed(text: str) -> tuple[str, str]:
    """Cut at the bracket that ends the argument."""
    depth = 1
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return text[:at], text[at + 1 :]
    return text, ""
