"""Regular expressions of other people, run with a bound on the work. Pure.

Python's engine tries every way in which the repeats of a pattern can share a text among them. How many there can be is worked out
before it is started, from the pattern and from the longest runs in this very text that each repeat could take; where that is too
many, nothing is run and the caller is told so. Repeats of something that varies in length itself, and references back to a group,
have no such bound: a pattern with one is refused when it is read.
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Literal

MOST_WAYS = 30_000_000
"""Ways that are tried for one text: well under a second."""
MOST_PATTERN = 2_000
_FEW = 4  # so often at most may something be repeated that varies in length

Found = Literal["yes", "no", "too long"]
_SINGLE = frozenset(("LITERAL", "NOT_LITERAL", "ANY", "IN"))
_REPEATS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))


class BoundedPattern:
    """One pattern. Raises ValueError, saying why, for a pattern that is malformed or cannot be bounded."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_PATTERN:
            raise ValueError(f"longer than {MOST_PATTERN:,} characters")
        parser: Any = importlib.import_module("re._parser")
        try:
            self._tree = parser.parse(pattern)
            self._compiled = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {error}") from None
        self._runs: dict[int, re.Pattern[str]] = {}
        self._check(self._tree)
        self._literals = _needed(self._tree)

    def search(self, text: str) -> tuple[Found, tuple[int, int]]:
        """Whether and where `text` holds the pattern; "too long" where finding out could take too long."""
        nowhere = (0, len(text))
        if any(literal not in text for literal in self._literals):
            return "no", nowhere
        if self._starts(text) * self._ways(self._tree, text) > MOST_WAYS:
            return "too long", nowhere
        match = self._compiled.search(text)
        return ("no", nowhere) if match is None else ("yes", match.span())

    def _check(self, tree: Any) -> None:
        for op, argument in tree:
            name = str(op)
            if name in ("GROUPREF", "GROUPREF_EXISTS"):
                raise ValueError("refers back to a group, which cannot be done in bounded time")
            if name == "SUBPATTERN" and (argument[1] or argument[2]):
                raise ValueError("switches flags inside; put (?i) and the like in front")
            if name in _REPEATS:
                _, most, body = argument
                if not _is_single(body) and not _is_fixed(body) and int(most) > _FEW:
                    raise ValueError("repeats something that varies in length, which cannot be done in bounded time")
            for inner in _inside(name, argument):
                self._check(inner)

    def _starts(self, text: str) -> int:
        """At how many places a search begins."""
        for op, argument in self._tree:
            if str(op) == "LITERAL" and not self._compiled.flags & re.IGNORECASE:
                return text.count(chr(argument))
            if str(op) != "AT":
                break
            if str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
                return 1 if not self._compiled.flags & re.MULTILINE else 1 + text.count("\n")
        return len(text) + 1

    def _ways(self, tree: Any, text: str) -> int:
        """An upper bound of the ways to match `tree` from one place in `text`."""
        ways = 1
        for op, argument in tree:
            name = str(op)
            if name in _REPEATS:
                ways *= self._repeats(argument, text)
            elif name == "BRANCH":
                ways *= sum(self._ways(branch, text) for branch in argument[1])
            else:
                for inner in _inside(name, argument):
                    ways *= self._ways(inner, text)
            if ways > MOST_WAYS:
                return ways
        return ways

    def _repeats(self, argument: Any, text: str) -> int:
        least, most, body = argument
        if _is_single(body):
            return 1 + min(int(most) - int(least), self._longest_run(body, text))
        if _is_fixed(body):
            return 1 + min(int(most) - int(least), len(text))
        inner = self._ways(body, text)
        return int(sum(inner**count for count in range(int(least), int(most) + 1)))

    def _longest_run(self, body: Any, text: str) -> int:
        """Of the characters that `body` matches one of, how many stand in a row at most."""
        if str(body[0][0]) == "ANY":
            return len(text)
        run = self._runs.get(id(body))
        if run is None:
            compiler: Any = importlib.import_module("re._compiler")
            run = self._runs[id(body)] = compiler.compile(body, self._compiled.flags)
        longest = current = 0
        end = -1
        for match in run.finditer(text):
            current = current + 1 if match.start() == end else 1
            end = match.end()
            longest = max(longest, current)
        return longest


def _inside(name: str, argument: Any) -> list[Any]:
    """The parts of one piece of a pattern that are patterns themselves."""
    if name in _REPEATS:
        return [argument[2]]
    if name == "BRANCH":
        return list(argument[1])
    if name == "SUBPATTERN":
        return [argument[3]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    if name == "ATOMIC_GROUP":
        return [argument]
    return []


def _is_single(tree: Any) -> bool:
    return len(tree) == 1 and str(tree[0][0]) in _SINGLE


def _is_fixed(tree: Any) -> bool:
    """Whether there is one way only to match `tree` at a place."""
    for op, argument in tree:
        name = str(op)
        if name == "BRANCH" or (name in _REPEATS and int(argument[0]) != int(argument[1])):
            return False
        if not all(_is_fixed(inner) for inner in _inside(name, argument)):
            return False
    return True


def _needed(tree: Any) -> tuple[str, ...]:
    """Texts that every match holds; () where letters count in either case."""
    if tree.state.flags & re.IGNORECASE:
        return ()
    found: list[str] = []
    current = ""
    for op, argument in tree:
        if str(op) == "LITERAL":
            current += chr(argument)
            continue
        if len(current) > 1:
            found.append(current)
        current = ""
    return tuple([*found, current] if len(current) > 1 else found)
