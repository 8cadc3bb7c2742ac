"""What a sentence asks of the lines of one file. Known phrases are taken out one by one, in any order, until nothing is left; a word that
no phrase takes up ends it."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.columns import Columns, columns_of
from agent.planner.offline.grammar.asked.shapes import Shape, shape_named
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


class Peeling:
    """One sentence on its way to a request."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.rest = f" {subject.said} "
        self.columns = columns_of(subject.text, subject.path)
        self.asked = Request(subject=subject, columns=self.columns)
        self.names = _names(tuple(sorted(self.columns.names.items())))
        self.col = (
            "(?:" + "|".join(sorted(map(re.escape, self.names), key=len, reverse=True)) + ")" if self.names else r"(?!)"
        )
        self.named = rf"(?:the |their |its )?{self.col}(?:[- ](?:marks?|scores?|points|columns?|fields?|values?|numbers?|grades?|names?))?"

    def take(self, pattern: w.Phrase | str) -> re.Match[str] | None:
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

    def run(self) -> Request | None:
        """The request; None where a word is left over, or nothing is asked."""
        asked = self.asked
        self._plain_wishes()
        self._how_many()
        self._conditions()
        self._orders()
        self._head()
        self.take(w.OCCURS)
        left = [word for word in re.findall(r"[^\s,;:.!?()\x02]+", self.rest) if word.lower() not in w.GLUE]
        if left or not asked.head:
            return None
        return asked

    def _plain_wishes(self) -> None:
        asked = self.asked
        if self.take(w.KEEP_HEADER):
            asked.header = "keep"
        else:
            skipped = self.take(w.NO_HEADER)
            if skipped:
                asked.header = "skip"
                if "count" in skipped[0].lower():
                    asked.mode = "count"  # "records not counting the header"
        asked.skip_empty = self.take(w.SKIPS_EMPTY) is not None
        asked.fold = self.take(w.FOLDED) is not None
        asked.no_signs = self.take(w.NO_SIGNS) is not None
        asked.ties = self.take(w.TIES) is not None
        asked.single = self.take(w.SINGLE) is not None
        asked.unique = self.take(w.ONCE) is not None
        self.take(w.BARE)
        asked.numbered = self.take(w.NUMBERED) is not None
        if self.take(r"\bdata (?:rows|lines|records)\b"):
            asked.rows_meant = asked.nouned = True
            asked.header = asked.header or "skip"
        if self.take(w.WHOLE_LINES):
            asked.rows_meant = True

    def _how_many(self) -> None:
        asked = self.asked
        if self.take(w.BY_COUNT):
            asked.mode, asked.order, asked.reverse = "freq", "count", True
        most = self.take(w.MOST)
        if most:
            asked.mode, asked.order, asked.reverse = "freq", "count", most["way"].lower() == "most"
            if most["n"]:
                asked.limit, asked.end = int(w.number(most["n"])), "first"
            elif not most["order"] and not re.search(
                r"(?i)\A\W*(?:ones?\b|\w+s\b)(?<!ss)", self.rest[most.start() + 2 :]
            ):
                asked.limit, asked.end = 1, "first"
        elif self.says("which ", "what "):
            way = self.says("most", "least") and self.take(
                rf"\b(?:which|what) (?P<c>{self.named}) (?:[a-z]+ )?(?:the )?(?P<w>most|least)(?: often| frequently| times)?(?= |;|,|\Z)"
            )
            if way:
                asked.mode, asked.order, asked.reverse, asked.limit, asked.end = (
                    "freq",
                    "count",
                    way["w"].lower() == "most",
                    1,
                    "first",
                )
                asked.head, asked.cols, asked.grouped = "column", [self.column(way["c"])], True
        asked.repeated = self.take(w.REPEATED) is not None
        if self.take(w.WITH_COUNTS) or (asked.numbered and (asked.repeated or asked.unique)):
            asked.counted, asked.numbered = True, False  # "words that occur twice, with their number"
        if self.take(w.EACH_COUNTED) or self.take(w.STATISTICS):
            asked.mode = "freq"
            self.take(w.OCCURS)
            self.take(r"\b(?:and )?how many (?:[a-z]+ )?each\b")
        elif self.take(w.HOW_MANY) or re.search(r"(?i)\bhow many (?:are|is) (?:there|they)", self.rest):
            asked.mode = "count" if asked.mode == "list" else asked.mode
        self.take(w.HOW_MANY_TAIL)
        self.take(w.DOES_FILE_HAVE)
        if asked.mode == "list" and (asked.counted and not asked.repeated):
            asked.mode = "freq"

    def _conditions(self) -> None:
        from agent.planner.offline.grammar.asked.conditions import take_conditions

        take_conditions(self)

    def _orders(self) -> None:
        asked, col = self.asked, self.named
        part = r"(?:per|by|for each|for every|of each|of every|in each|in every|grouped by|broken down by|according to|on each|each)"
        if asked.mode in ("count", "freq"):
            found = self.take(rf"\b{part} (?P<c>{col})\b(?: separately| each)?")
            if (found and asked.order != "count") or found:
                asked.mode, asked.grouped, asked.head, asked.cols = "freq", True, "column", [self.column(found["c"])]
            else:
                self._by_moment(part)
                self._by_shape(part)
        elif re.search(
            rf"(?i)\b(?:per|for each|for every) (?:{self.named}|year|month|day|date|hour|minute)\b", self.rest
        ) or re.search(
            r"(?i)\b(?:hits|requests|visits|calls|accesses) by (?:year|month|day|date|hour|minute)\b", self.rest
        ):
            asked.mode, asked.nouned = "freq", True
            self._orders()
            return
        if asked.mode == "list" or asked.head:
            self._sorted_by(col)
        if self.columns.sized and self.take(
            r"\b(?:sorted |ordered )?(?:in (?:the )?order of|by) (?:the |their )?sizes?\b"
        ):
            asked.order, asked.nouned = "any", True
        self._by_place()
        down, up = self.take(w.DESCENDING), self.take(w.ASCENDING)
        column = self.names.get("temperature", "")
        if (down or up) and not asked.order and column and re.search(r"(?i)warm|hot|cold", (down or up or [""])[0]):
            asked.order, asked.order_cols = "column", [column]
        if self.take(w.NUMERICALLY):
            asked.order = asked.order or "number"
        if self.take(w.ALPHABETICAL):
            asked.order = asked.order or "text"
        length = self.take(w.BY_LENGTH)
        if length:
            asked.order = "length"
            asked.unique = asked.unique or "distinct" in length[0].lower()
            asked.reverse = (length["far"] or "").lower() == "longest"
            again = self.take(w.BY_LENGTH)
            asked.unique = asked.unique or (again is not None and "distinct" in again[0].lower())
            self.take(r"\b(?:longest|shortest)(?: \w+)?(?: ?[\x02;]+)* first\b")
        if down or up:
            if asked.order == "count" or asked.mode == "freq":
                asked.order = "count"
            asked.order = asked.order or "any"
            asked.reverse = down is not None
        if not asked.order and self.take(w.SORTED):
            asked.order = "any"
        limit = self.take(w.LIMIT)
        if limit:
            asked.limit, asked.end = int(w.number(limit["n"])), limit["end"].lower()

    def _by_shape(self, part: str) -> None:
        """ "per source address": groups by something that is known by its shape."""
        for more in (2, 1, 0):
            found = w.compiled(rf"\b{part} (?P<s>(?:[a-z0-9]+ ){{{more}}}[a-z0-9]+)(?= |;|,|\Z)").search(self.rest)
            shape = shape_named(found["s"], self.subject.path, self.subject.text) if found else None
            if found and shape is not None and not shape.lines and not self.asked.grouped:
                self.rest = f"{self.rest[: found.start()]} ;{self.rest[found.end() :]}"
                self.asked.mode, self.asked.grouped, self.asked.head, self.asked.shape = "freq", True, "shape", shape
                return

    def _by_place(self) -> None:
        """What is meant by its place: "the three cheapest", "the second largest number", "the newest entry"."""
        from agent.planner.offline.grammar.asked.places import take_place

        take_place(self)

    def _by_moment(self, part: str) -> None:
        asked = self.asked
        found = self.take(
            rf"\b{part} (?P<m>year|month|day|date|hour|minute)(?: of the day)?\b|\b(?P<h>hourly|daily|monthly|yearly)\b"
        )
        if found is None:
            return
        name = (
            found["m"] or {"hourly": "hour", "daily": "day", "monthly": "month", "yearly": "year"}[found["h"].lower()]
        ).lower()
        if name in self.columns.moments:
            asked.mode, asked.grouped, asked.head, asked.moment = "freq", True, "moment", self.columns.moments[name]
        else:
            self.rest += " unknown-moment"

    def _sorted_by(self, col: str) -> None:
        asked = self.asked
        best = self.says(" with ") and self.take(
            rf"\b(?:(?:the )?(?P<n>{w.NUM}) )?(?P<noun>[a-z]+ )?with (?:the )?(?P<way>highest|largest|biggest|most|best|greatest|lowest|smallest|least|fewest) (?P<c>{col})\b"
        )
        if best:
            asked.order, asked.order_cols = "column", [self.column(best["c"])]
            asked.reverse = best["way"].lower() in ("highest", "largest", "biggest", "most", "best", "greatest")
            asked.limit, asked.end = int(w.number(best["n"])) if best["n"] else 1, "first"
            asked.head = asked.head or "lines"
            return
        found = self.says(" by ", " on ", "order", " in ", "according") and self.take(
            rf"\b(?:sorted |ordered |ranked |arranged |sort |order |rank |in order )?(?:by|on|according to|in (?:the )?order of|in) (?P<c>{col})(?P<o> order)?(?:(?:,? (?:and |and then |then )(?:within (?:a |each |the same |one )?{self.col} )?(?:by )?)(?P<d>{col}))?(?= |;|,|\Z)"
        )
        if found and (found["o"] or not re.match(r"(?i)in (?!.*order)", found[0].strip())):
            asked.order, asked.order_cols = "column", [self.column(found["c"])]
            if found["d"]:
                asked.order_cols.append(self.column(found["d"]))
            way = self.take(r"\A[ ;,]*(?!)") or self.take(
                rf"\b(?:the )?(?P<way>highest|most|largest|biggest|best|greatest|lowest|least|smallest|fewest)(?: {self.col})? (?:first|on top|at the top)\b"
            )
            if way:
                asked.reverse = way["way"].lower() in ("highest", "most", "largest", "biggest", "best", "greatest")
            if not asked.head:
                asked.nouned = True
        elif found:
            self.rest += " in-column"
        elif self.says("first", " top"):
            first = self.take(
                rf"\b(?P<way>highest|most|largest|biggest|best|greatest|lowest|least|smallest|fewest) (?P<c>{col}) (?:first|on top|at the top)\b"
            )
            if first:
                asked.order, asked.order_cols = "column", [self.column(first["c"])]
                asked.reverse = first["way"].lower() in ("highest", "most", "largest", "biggest", "best", "greatest")

    def _head(self) -> None:
        from agent.planner.offline.grammar.asked.heads import take_head

        take_head(self)


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


def row_noun(said: str, peel: Peeling) -> bool:
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


__all__ = ["Peeling", "Request", "alternatives", "row_noun"]
