"""By what lines are put into groups and into an order."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.peel import PeelBase
from agent.planner.offline.grammar.asked.shapes import shape_named


class Orders(PeelBase):
    """The part of the reading that is about groups and orders."""

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
