"""Run regular expressions of other people in time that grows with the text only: RE2 instead of Python's engine. Pure.

What RE2 cannot do in linear time is an error when the pattern is read. What it reads otherwise than Python, whose syntax people know,
is an error as well, or evened out so that a pattern finds what it would find there, and sometimes more.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

MOST_PATTERN = 2_000
MOST_STEPS = 4_000
"""Instructions of a compiled pattern. Each is tried at most once for each character, so that 100 kB take seconds at the worst."""
_LOOKS_AROUND = re.compile(r"invalid perl operator: \(\?(?:[=!]|<[=!])")
_REFERS_BACK = re.compile(r"invalid escape sequence: \\[1-9]|invalid perl operator: \(\?P$")
_OPEN_REPEAT = re.compile(r"\{,\d+\}")
_ASCII_ONLY = re.compile(r"\\[bBwW]")
_HALF = re.compile(r"[\ud800-\udfff]")


class LinearPattern:
    """One pattern, `flags` (letters such as "im") in front of it. Raises ValueError, saying why, for one that cannot be used."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        if len(pattern) > MOST_PATTERN:
            raise ValueError(f"longer than {MOST_PATTERN:,} characters")
        if _OPEN_REPEAT.search(pattern):
            raise ValueError("a repeat without its least number; write {0,n} for {,n}, or \\{ for the character")
        if not pattern.isascii() and _ASCII_ONLY.search(pattern):
            known = "\\b and \\w know the letters of ASCII only"
            raise ValueError(f"{known}, and this pattern has others; write \\pL for any letter")
        if "\\C" in pattern:
            raise ValueError("\\C matches a single byte; write . for any character")
        try:
            re2: Any = importlib.import_module("re2")
        except ImportError:
            raise ValueError("patterns cannot be read without google-re2; install it") from None
        options = re2.Options()
        options.log_errors = False  # to stderr, by the library itself
        options.never_capture = True
        try:
            self._compiled = re2.compile(f"(?{flags}){pattern}" if flags else pattern, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise ValueError(_reason(error, flags)) from None
        if self._compiled.programsize > MOST_STEPS:
            raise ValueError("too much work for each character; smaller counts of repeats, or .* for .{0,500}")

    def search(self, text: str) -> tuple[int, int] | None:
        """Find where `text` holds the pattern first, None where it does not."""
        for form in _forms(text):
            match = self._compiled.search(form)
            if match is not None:
                start, end = match.span()
                return start, end
        return None


def _forms(text: str) -> list[str]:
    """The text, and as `\\w`, `\\b`, `\\s` and `$` of Python would take it; places are the same in each."""
    if not text.isascii():
        text = _HALF.sub("\ufffd", text)
    forms = [text]
    if not text.isascii():
        plain = ("_" if char.isalnum() else " " if char.isspace() else char for char in text)
        forms.append("".join(like if ord(char) > 127 else char for char, like in zip(text, plain, strict=True)))
    if text.endswith("\n"):
        forms += [form[:-1] for form in forms]
    return forms


def _reason(error: Exception, flags: str) -> str:
    told = error.args[0] if error.args else ""
    said = told.decode("utf-8", "replace") if isinstance(told, bytes) else "contains a lone surrogate"
    if _LOOKS_AROUND.match(said):
        return "looks around, (?=…) and the like, which cannot be done in linear time"
    if _REFERS_BACK.match(said):
        return "refers back to a group, which cannot be done in linear time"
    if said.endswith("\\Z"):
        return "the end of the text is written \\z here, not \\Z"
    if flags:
        said = said.replace(f"(?{flags})", "")
    return f"not a regular expression that RE2 reads: {said}"
