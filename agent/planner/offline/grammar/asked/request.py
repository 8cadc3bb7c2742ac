"""What a sentence asks of the lines of one file. Known phrases are taken out one by one, in any order, until nothing is left; a word that
no phrase takes up ends it."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.orders import Orders
from agent.planner.offline.grammar.asked.peel import Request


class Peeling(Orders):
    """One sentence on its way to a request."""

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

    def _head(self) -> None:
        from agent.planner.offline.grammar.asked.heads import take_head

        take_head(self)
