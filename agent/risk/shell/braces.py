"""Expand braces and edit values (`${name#pattern}`) within bounds; mark in a word what is quoted, and what may be one of several."""

from __future__ import annotations

import fnmatch
import itertools
import re

from agent.risk.reader.words import MAX_FIELDS, UNKNOWN
from agent.text.lazy_pattern import lazily

# Quoted characters that would mean something unquoted travel as private characters until the word is complete.
_SPECIAL = "{},*?[]~ \t\n.=:"
_BASE = 0xE000
HIDE = {ord(char): _BASE + index for index, char in enumerate(_SPECIAL)}
SHOW = {_BASE + index: char for index, char in enumerate(_SPECIAL)}
PLAIN_AFTER = {ord(char): HIDE[ord(char)] for char in "{},~"}
NEEDS_HIDING = re.compile("[" + re.escape(_SPECIAL) + "]")
HIDDEN = lazily("[\ue000-\ue020]")
BREAK = "\ue020"  # where an unquoted expansion splits
_CHOICE, _OR, _END = "\ue021", "\ue022", "\ue023"
_MOST_CHARACTERS = 100_000
_CHOICES = lazily(f"{_CHOICE}([^{_END}]*){_END}")


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
    """Tell whether unquoted `text` is a pattern that bash compares with file names."""
    if "*" in text or "?" in text:
        return True
    bracket = text.find("[")
    return bracket >= 0 and text.find("]", bracket + 2) >= 0


MAX_GROUPS = 24
_MAX_RANGE = 60  # of a longer one its beginning and its last are enough

_RANGE = lazily(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?\Z")


def edit_value(text: str, operation: str) -> str:
    """`${x#pattern}` and its relatives on a known value; UNKNOWN where it is not worth following."""
    if UNKNOWN in text or len(text) > 500:
        return UNKNOWN
    kind = operation[:1]
    if kind in "#%":
        return _trimmed(text, operation)
    if kind == "/":
        everywhere = operation[1:2] == "/"
        pattern, _, new = operation[2 if everywhere else 1 :].partition("/")
        if any(char in pattern for char in "*?["):
            return UNKNOWN
        return text.replace(pattern, new, -1 if everywhere else 1) if pattern else text
    if kind == "^":
        return text.upper() if operation[1:2] == "^" else text[:1].upper() + text[1:]
    if kind == ",":
        return text.lower() if operation[1:2] == "," else text[:1].lower() + text[1:]
    if kind == ":":
        found = re.fullmatch(r":\s*\(?(-?\d+)\)?(?::\s*(-?\d+))?", operation)
        if found is None:
            return UNKNOWN
        start, length = int(found.group(1)), found.group(2)
        tail = text[start:]
        if length is None:
            return tail
        return tail[: int(length)]
    if kind == "@":
        return _transformed(text, operation[1:])
    return UNKNOWN


def _trimmed(text: str, operation: str) -> str:
    """A value without the shortest or longest beginning (`#`) or end (`%`) that a pattern fits."""
    longest = operation[1:2] == operation[:1]
    pattern = operation[2 if longest else 1 :]
    at_start = operation[:1] == "#"
    for size in range(len(text), -1, -1) if longest else range(len(text) + 1):
        cut = text[:size] if at_start else text[len(text) - size :]
        if fnmatch.fnmatchcase(cut, pattern):
            return text[size:] if at_start else text[: len(text) - size]
    return text


def _transformed(text: str, letter: str) -> str:
    """`${x@E}` and its relatives, as far as they give plain text."""
    if letter == "E":
        from agent.risk.reader.expansions import decode_ansi_c

        return decode_ansi_c(text)
    if letter in ("U", "u", "L"):
        return {"U": text.upper(), "u": text[:1].upper() + text[1:], "L": text.lower()}[letter]
    return text if letter == "Q" else UNKNOWN


def expand_braces(raw: str) -> list[str]:
    """Brace expansion on text whose quoted characters are hidden, bounded."""
    if raw.count("{") > MAX_GROUPS:
        return [UNKNOWN]  # nobody writes that by hand
    results = [raw]
    for _ in range(MAX_GROUPS):
        expanded: list[str] = []
        changed = False
        for item in results:
            pieces = _expand_once(item)
            if pieces is None:
                expanded.append(item)
            else:
                expanded.extend(pieces)
                changed = True
            if len(expanded) > MAX_FIELDS:
                return [*expanded[:MAX_FIELDS], UNKNOWN]
        results = expanded
        if not changed:
            break
    return results


def _expand_once(text: str) -> list[str] | None:
    """Expand the first brace group that is one; None where there is none."""
    position = text.find("{")
    tries = 0
    while position >= 0 and tries < MAX_GROUPS:
        tries += 1
        level = 0
        commas: list[int] = []
        for index in range(position, len(text)):
            char = text[index]
            if char == "{":
                level += 1
            elif char == "," and level == 1:
                commas.append(index)
            elif char == "}":
                level -= 1
                if level == 0:
                    head, tail = text[:position], text[index + 1 :]
                    inner = text[position + 1 : index]
                    if commas:
                        edges = [position, *commas, index]
                        return [head + text[a + 1 : b] + tail for a, b in itertools.pairwise(edges)]
                    if (found := _RANGE.match(inner)) is not None:
                        return [head + value + tail for value in _range(found)]
                    break
        position = text.find("{", position + 1)
    return None


def _range(found: re.Match[str]) -> list[str]:
    first, last = found.group(1), found.group(2)
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return [found.group()]
    numeric = first.lstrip("-").isdigit()
    a, b = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    step = 1 if b >= a else -1
    values = list(range(a, b + step, step)) if abs(b - a) < _MAX_RANGE else [*range(a, a + step * _MAX_RANGE, step), b]
    return [str(v) if numeric else chr(v) for v in values]
