"""A sentence from which known phrases are taken out, and what was found in it so far."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.columns import Columns, columns_of
from agent.planner.offline.grammar.asked.shapes import Shape
from agent.planner.offline.grammar.asked.subject import MARK, Subject
from agent.planner.offline.grammar.tables import _ALIKE
from agent.planner.offline.grammar.tablewords import ROW_NOUNS

_MORE_ALIKE = [
    ["temperature", "temp", "celsius", "degrees"],
    ["system", "os"],
    ["memory", "ram"],
    ["price", "cost"],
    ["student", "name"],
]


class Request(Struct, kw_only=True):
    """What is wanted, as it is found out. `head`: "lines", "words", "column", "shape" or "moment"; `mode`: "list", "count", "freq"."""

    subject: Subject
    columns: Columns
    head: str = ""
    cols: list[str] = []
    shape: Shape | None = None
    moment: str = ""
    mode: str = "list"
    unique: bool = False
    repeated: bool = False
    single: bool = False
    counted: bool = False
    fold: bool = False
    no_signs: bool = False
    header: str = ""
    skip_empty: bool = False
    rows_meant: bool = False
    order: str = ""
    order_cols: list[str] = []
    reverse: bool = False
    ties: bool = False
    limit: int = 0
    end: str = ""
    texts: list[tuple[str, ...]] = []
    conditions: list[str] = []
    grouped: bool = False
    nouned: bool = False
    nth: int = 0
    numbered: bool = False


class PeelBase:
    """One sentence on its way to a request."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.rest = f" {subject.said} "
        self.columns = columns_of(subject.text, subject.path)
        self.asked = Request(subject=subject, columns=self.columns)
        self.names = _names(tuple(sorted(self.columns.names.items())))
        # Only the names that are said: patterns with few of them are made quickly, and those without any are the same for all files.
        low = self.rest.lower()
        said = sorted((re.escape(name) for name in self.names if name in low), key=len, reverse=True)
        self.col = "(?:" + "|".join(said) + ")" if said else r"(?!)"
        self.named = rf"(?:the |their |its )?{self.col}(?:[- ](?:marks?|scores?|points|columns?|fields?|values?|numbers?|grades?|names?))?"

    def take(self, pattern: w.Phrase | re.Pattern[str] | str) -> re.Match[str] | None:
        """Take a phrase out; a mark stays where it was, for what stands beside it."""
        regex = w.compiled(pattern) if isinstance(pattern, str) else pattern
        found = regex.search(self.rest)
        if found is None or not found[0].strip():
            return None
        kept = f" {MARK} " if MARK in found[0] else " "
        self.rest = f"{self.rest[: found.start()]}{kept};{self.rest[found.end() :]}"
        return found

    def says(self, *words: str) -> bool:
        """Whether what is left has one of some beginnings of words; patterns that cannot fit need not be made."""
        low = self.rest.lower()
        return any(word in low for word in words)

    def column(self, said: str) -> str:
        """The number of a column that is named in some words."""
        low = re.sub(r"\A(?:the|their|its) ", "", said.strip().lower())
        while low not in self.names and " " in low:
            low = low.rpartition(" ")[0]
        return self.names.get(low, "")


def alternatives(noun: str) -> list[str]:
    """The forms in which a name is said."""
    forms = [noun, noun + "s"]
    if noun.endswith(("s", "x", "ch", "sh")):
        forms.append(noun + "es")
    if noun.endswith("y"):
        forms.append(noun[:-1] + "ies")
    if noun.endswith("s"):
        forms.append(noun[:-1])
    return forms


@lru_cache(maxsize=32)
def _names(columns: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """All words for columns with their numbers; a word for two of them is none."""
    known = dict(columns)
    said: dict[str, str] = {}
    for name, number in known.items():
        for form in alternatives(name):
            said.setdefault(form, number)
    for group in (*_ALIKE, *_MORE_ALIKE):
        numbers = {known[word] for word in group if word in known}
        if len(numbers) == 1:
            number = next(iter(numbers))
            for word in group:
                for form in alternatives(word) if word not in ("who",) else ():
                    said.setdefault(form, number)
    return {name: number for name, number in said.items() if name and len(name) > 1}


def row_noun(said: str, peel: PeelBase) -> bool:
    """Whether a word stands for the lines of the file."""
    low = said.lower()
    if re.fullmatch(w.LINE, low) or low in ROW_NOUNS:
        return True
    if (
        low.rstrip("s") in ("message", "event", "notice", "complaint")
        and not peel.columns.moments
        and not peel.columns.table.header
    ):
        return True
    stem = peel.subject.path.rsplit("/", 1)[-1].split(".")[0].lower()
    return len(low) > 3 and (stem in (low, low.rstrip("s")) or low.rstrip("s") == stem.rstrip("s"))
