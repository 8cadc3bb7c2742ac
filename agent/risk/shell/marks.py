"""Private characters inside words that are being expanded: what quoting protects, where fields break, what may be either."""

from __future__ import annotations

import re

from agent.risk.reader.words import MAX_FIELDS, UNKNOWN

# Quoted characters that would mean something unquoted travel as private characters until the word is complete.
_SPECIAL = "{},*?[]~ \t\n.=:"
_BASE = 0xE000
HIDE = {ord(char): _BASE + index for index, char in enumerate(_SPECIAL)}
SHOW = {_BASE + index: char for index, char in enumerate(_SPECIAL)}
PLAIN_AFTER = {ord(char): HIDE[ord(char)] for char in "{},~"}
NEEDS_HIDING = re.compile("[" + re.escape(_SPECIAL) + "]")
HIDDEN = re.compile("[\ue000-\ue020]")
BREAK = "\ue020"  # where an unquoted expansion splits
_CHOICE, _OR, _END = "\ue021", "\ue022", "\ue023"
_MOST_CHARACTERS = 100_000
_CHOICES = re.compile(f"{_CHOICE}([^{_END}]*){_END}")


def either(texts: list[str]) -> str:
    """One of `texts`, which one is not known."""
    return texts[0] if len(texts) == 1 else _CHOICE + _OR.join(texts) + _END


def spread(raw: str) -> list[str]:
    """`raw` with each combination of what may be either."""
    if _CHOICE not in raw:
        return [raw]
    pieces = _CHOICES.split(raw)
    most = min(MAX_FIELDS, max(4, _MOST_CHARACTERS // len(raw)))  # a long text is not copied for each of many values
    results = [pieces[0]]
    for choices, rest in zip(pieces[1::2], pieces[2::2], strict=True):
        texts = choices.split(_OR)
        if len(results) * len(texts) > most:
            texts = [UNKNOWN]
        results = [f"{front}{text}{rest}" for front in results for text in texts]
    return results


def has_wildcard(text: str) -> bool:
    """Whether unquoted `text` is a pattern that bash compares with file names."""
    if "*" in text or "?" in text:
        return True
    bracket = text.find("[")
    return bracket >= 0 and text.find("]", bracket + 2) >= 0
