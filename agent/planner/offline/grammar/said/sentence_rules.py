"""Goals that are one sentence with a fixed build: sums, dates, texts in the goal itself, JSON, what is inside an archive.

A rule has to fit the whole sentence, so that no word of it is passed over. Its pattern is compiled when one of its trigger words
stands in a goal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from agent.planner.offline.sentences import Scene
from agent.planner.offline.values import quote_path

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "a hundred": 100, "one hundred": 100,
     "thousand": 1000, "a thousand": 1000, "one thousand": 1000}  # fmt: skip
_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_QUOTED = r"'[^'\0]*'|\"[^\"\0]*\"|`[^`\0]*`|“[^”\0]*”|‘[^’\0]*’"
_PATH = r"[\w./~+@%][\w./~+@%,-]*[\w/~+@%-]|[\w~.]"
_HOLES = {
    "n": rf"-?\d{{1,15}}(?:\.\d{{1,10}})?|{_WORDS}",
    "int": rf"\d{{1,9}}|{_WORDS}",
    "path": rf"{_QUOTED}|{_PATH}",
    "paths": rf"(?:{_QUOTED}|{_PATH})(?:(?:,? and |, ?)(?:{_QUOTED}|{_PATH}))*",
    "text": rf"{_QUOTED}|[^'\"`\0]+?",
    "quoted": _QUOTED,
    "word": rf"{_QUOTED}|[^\s'\"`,;]+",
    "words": r"[a-z][\w-]*(?: [a-z][\w-]*){0,3}?",
    "var": r"\$?[A-Za-z_]\w*",
    "date": r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?",
    "json": rf"{_QUOTED}|[\w./~+@%-]+\.(?:json|jsonl|ndjson)",
    "tar": r"[\w./~+@%-]+\.(?:tar|tgz|tbz2?|txz|tar\.\w{2,4})",
    "zip": r"[\w./~+@%-]+\.(?:zip|jar|war|epub)",
    "arc": r"[\w./~+@%-]+\.(?:tar|tgz|tbz2?|txz|tar\.\w{2,4}|zip|jar|war|epub)",
    "packed": r"[\w./~+@%-]+(?<!\.tar)\.(?:gz|bz2|xz)",
}
_MACROS = {
    # What may open a request without saying anything of what is wanted.
    "ASK": (
        r"(?:(?:show|print|display|list|give|tell|output|get|report|find out|find|determine|calculate|compute|work out|return"
        r"|extract|see|what is|what's|what are|what were|what was|which are|which is)(?: to)?(?: me| us)?(?: what| which)?"
        r"(?: the| a| an| all| all of the| all the| just the| only the| out| just| only)? |the |all the |all |just the |only the )?"
    ),
    "THE": r"(?:the |an? |my |this |that |our |all |all the )?",
    "END": r"(?: (?:to|on) (?:the )?(?:screen|terminal|console|standard output|stdout))?",
}
_HOLE = re.compile(r"<(\w+):(\w+)>")
_POLITE = re.compile(
    r"(?i)\A(?:(?:please|kindly|hey|ok|okay|now|can you|could you|would you|will you|i want to|i would like to|i'd like to"
    r"|i need to|help me|let us|let's)[, ]+)+"
)

Made = Callable[["Heard"], str | None]


class Heard:
    """A sentence that a rule fits: the values of its holes, and the scene."""

    def __init__(self, match: re.Match[str], scene: Scene) -> None:
        self._match = match
        self.scene = scene

    def has(self, name: str) -> bool:
        """Whether the hole or part `name` was said."""
        return self._match.groupdict().get(name) is not None

    def text(self, name: str) -> str:
        """What was said in a hole, without quotes; "" where it was left out."""
        return unquoted(self._match.groupdict().get(name) or "")

    def raw(self, name: str) -> str:
        """What was said in a hole, as it was; "" where it was left out."""
        return self._match.groupdict().get(name) or ""

    def low(self, name: str) -> str:
        return self.text(name).lower()

    def path(self, name: str) -> str:
        """A path as a shell word."""
        return quote_path(self.text(name))

    def number(self, name: str) -> str:
        """A number in digits."""
        said = self.low(name)
        return str(NUMBER_WORDS.get(said, said))

    def several(self, name: str) -> list[str]:
        """The names of a list."""
        said = self._match.groupdict().get(name) or ""
        parts = re.findall(rf"{_QUOTED}|[^\s,]+", said)
        return [unquoted(part) for part in parts if part.lower() != "and"]


def unquoted(said: str) -> str:
    """A text without the quotes around it."""
    return said[1:-1] if len(said) > 1 and re.fullmatch(_QUOTED, said) else said


class Said:
    """One rule: words of which one must be there, how the sentence is built, and what makes the command (None: it does not suit)."""

    def __init__(self, triggers: str, pattern: str, make: Made, reading: str) -> None:
        self.triggers = frozenset(triggers.split())
        self._source = pattern
        self.make = make
        self.reading = reading

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        source = self._source
        for name, text in _MACROS.items():
            source = source.replace("{" + name + "}", text)
        source = _HOLE.sub(lambda hole: f"(?P<{hole[1]}>{_HOLES[hole[2]]})", source)
        return re.compile(source, re.IGNORECASE)

    def hear(self, text: str, scene: Scene) -> str | None:
        """The command for a plain sentence; None where the rule does not fit."""
        match = self.pattern.fullmatch(text)
        return self.make(Heard(match, scene)) if match is not None else None


def plain(text: str) -> str:
    """A goal on one line, without the politeness before it and the mark behind it."""
    text = _POLITE.sub("", " ".join(text.split()))
    text = re.sub(r"(?i),? please\Z", "", text.rstrip("?!").rstrip())
    return text.removesuffix(".") if not text.endswith(("/.", "..", " .")) else text


def words_of(text: str) -> set[str]:
    """The words that may trigger a rule, and how files end."""
    low = text.lower()
    found = set(re.findall(r"[a-z]+", low)) | set(re.findall(r"\.[a-z0-9]+", low))
    if re.search(r"\d", low):
        found.add("0")
    return found
