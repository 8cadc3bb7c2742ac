"""Find what a goal says that its command shows no sign of. Only the typed goal and the finished command are compared.

Recipes and grammar can take a word for something else, or pass over it. `evidence.toml` says for each kind of wish how the command looks
that grants it; so a mistake of theirs is seen by somebody who knows nothing of how they read. It holds for commands that only read, too.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache

from msgspec import Struct

from agent.text.lazy_pattern import LazyPattern

# Line tools take a record for a line, and a comma for a letter.
_TEXT_OF_JSON = re.compile(
    r"\b(?:awk|sort|cut|sed -n|uniq)\b[^|;&]* \S+\.jsonl?\b|\bgrep\b[^;&]*\.jsonl? \||&& grep\b[^|;&]*\.json"
)
_SAYS_TEXT = re.compile(
    r"\b(?:lines?|rows?|text|words?|occur\w*|contain\w*|mention\w*|match\w*|replace|substitute|search|grep|find|string|pattern|records?)\b|\x01"
)
_NAMES_IN_LY = frozenset(
    ("assembly", "family", "monthly", "weekly", "butterfly", "supply", "reply", "jekyll", "emily", "sicily")
)
_CSV_BY_BLANKS = re.compile(r"\bawk (?!-F)(?![^']*-F)'[^']*(?:\$\d|NF)[^']*' (?:\S+ )*\S+\.csv\b")


class _Wish(Struct, frozen=True):
    """A wish, how it is said, and how a command looks that grants it, or with `wanted` false, that does not."""

    what: str
    said: LazyPattern
    sign: LazyPattern
    wanted: bool


class _Unasked(Struct, frozen=True):
    """A deed of commands, how it looks, and one of the words that have to be said for it."""

    what: str
    sign: LazyPattern
    said: LazyPattern


class _Evidence(Struct, frozen=True):
    """The data file: all wishes, what nobody does unasked, words that are often passed over, and words that
    name no folder, nothing at all, files and folders only, or no program."""

    wishes: tuple[_Wish, ...]
    unasked: tuple[_Unasked, ...]
    idle: tuple[_Wish, ...]
    no_folder: frozenset[str]
    no_name: frozenset[str]
    no_proper_name: frozenset[str]
    no_program: frozenset[str]


@cache
def _evidence() -> _Evidence:
    """Read with the first command."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "evidence.toml"), "rb") as file:
        data = tomllib.load(file)
    wishes = tuple(
        _Wish(row["what"], LazyPattern(row["said"]), LazyPattern(row.get("done") or row["never"]), "done" in row)
        for row in data["wish"]
    )
    idle = tuple(_Wish("", LazyPattern(row["said"]), LazyPattern(row["done"]), True) for row in data["idle"])
    words = (frozenset(data[key].split()) for key in ("no_folder", "no_name", "no_proper_name", "no_program"))
    unasked = (_Unasked(row["what"], LazyPattern(row["sign"]), LazyPattern(row["said"])) for row in data["unasked"])
    return _Evidence(wishes, tuple(unasked), idle, *words)


def names_no_folder(word: str) -> bool:
    """Tell whether a word beside "folder" only says which one, or nothing: "the parent folder"."""
    return word.lower() in _evidence().no_folder


def names_no_program(word: str) -> bool:
    """Tell whether a word stands for programs, packages or services of any name: "packages", "version"."""
    return word.lower() in _evidence().no_program


def names_nothing(word: str, *, path: bool = False) -> bool:
    """Tell whether a word says of which kind something is, or how it is done: "unused", "separately". A path can be called "tests"."""
    low = word.lower()
    if not path and low in _evidence().no_proper_name:
        return True
    return low in _evidence().no_name or (len(low) > 5 and low.endswith("ly") and low not in _NAMES_IN_LY)


def unasked(said: str, command: str) -> list[str]:
    """Name what a command does though no word of a masked goal asks for it."""
    return [row.what for row in _evidence().unasked if row.sign.search(command) and not row.said.search(said)]


def idle(said: str, command: str) -> tuple[str, ...]:
    """List the words of a masked goal that were passed over, though a command shows no sign of what they may have meant."""
    found = ((row.said.search(said), row) for row in _evidence().idle)
    return tuple(word[0] for word, row in found if word and not row.sign.search(command))


def missing(said: str, command: str) -> list[str]:
    """Wishes of a masked goal (see `saying.masked`) that a command shows no sign of, in words."""
    lost = [
        wish.what
        for wish in _evidence().wishes
        if wish.said.search(said) and bool(wish.sign.search(command)) is not wish.wanted
    ]
    if _TEXT_OF_JSON.search(command) and not _SAYS_TEXT.search(said):
        lost.append("what JSON means")
    if _CSV_BY_BLANKS.search(command) and "FS" not in command:
        lost.append("the columns of a table")
    return lost
