"""Tell what of a remembered command its goal does not say: names, numbers, quoted texts, further commands, and options of a change."""

from __future__ import annotations

import re
import shlex

_SINGLE_QUOTED = re.compile(r"'[^']*'")
_NOTHING = frozenset(("", ".", "-", "{}", "+", ";", "--"))


def unsaid(goal: str, command: str, proposed: str = "", *, changes: bool) -> str:
    """The first such part, "" where there is none. `proposed`: what recipes make of the goal, whose words count as said.

    `changes`: that the command changes something, and then every option counts.
    """
    found = re.search(r"[`$]", _SINGLE_QUOTED.sub("", command))
    if found:
        return found[0]
    try:
        words = _words(command)
        known = {*_words(proposed)}
    except ValueError:  # a quote that is not closed
        return command[:40]
    said = goal.lower()
    begins = True
    for word in words:
        if set(word) <= set("|;&<>()\n") and word not in known:
            if word != "|":
                return word
            begins = True
            continue
        if not begins and word not in known and not _is_said(word, said, changes=changes):
            return word
        begins = False
    return ""


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.commenters = ""
    return list(lexer)


def _is_said(word: str, goal: str, *, changes: bool) -> bool:
    value = word
    if word.startswith("-"):
        name, _, value = word.partition("=")
        if changes and name.strip("-").lower() not in goal:
            return False
        value = value or "".join(re.findall(r"\d+", name))
    plain = value.lower().removeprefix("./").rstrip("/")
    return plain in _NOTHING or re.search(rf"(?<![\w./-]){re.escape(plain)}(?![\w-])", goal) is not None
