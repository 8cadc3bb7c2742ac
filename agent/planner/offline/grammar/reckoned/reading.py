"""A sentence about columns on its way to a calculation. Known phrases are taken out one by one; a word that none takes up ends it."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.conditions import take_conditions
from agent.planner.offline.grammar.reckoned import notes
from agent.planner.offline.grammar.reckoned.chosen import date_column, take_answers, take_chosen
from agent.planner.offline.grammar.reckoned.column_reading import VALUE, ColumnReading
from agent.planner.offline.grammar.reckoned.expressions import take_expression
from agent.planner.offline.grammar.reckoned.extremes import take_extreme
from agent.planner.offline.grammar.reckoned.leftovers import nothing_left
from agent.planner.offline.grammar.reckoned.several import take_several
from agent.planner.offline.grammar.reckoned.wish import Wish

_SUM = w.Phrase(
    "sum total add altogether all together combined overall up what",
    r"(?i)\b(?:(?:the )?(?:grand |overall |combined |cumulative )?(?:sum|total|totals|sums)(?: (?:number|amount|value|up))?(?: of)?(?: all)?(?: the)?|(?:add|sum|total)(?:ed|med|ing|ming)? (?:up|together)|added|summed|summed-up|altogether"
    r"|(?:in|as a) (?:total|sum|all)|all (?:together|told)|together|combined|overall|what (?:do|does) .{0,30}(?:add up|sum up|come) to)\b",
)
_MEAN = w.Phrase(
    "average mean avg",
    r"(?i)\b(?:the )?(?:average|averages|averaged|mean|avg|arithmetic mean|on average)(?: value)?(?: of)?(?: all)?(?: the)?\b",
)
_MEDIAN = w.Phrase("median", r"(?i)\b(?:the )?median(?: value)?(?: of)?(?: all)?(?: the)?\b")
_GROUP = r"(?:per|by|for each|for every|of each|of every|in each|in every|grouped by|group by|broken down by|for each of the|within each|on each|each|every)"
_EACH_LINE = w.Phrase(
    "row line record column",
    r"(?i)\b(?:for|of|in|on|over|per|within) (?:each|every|all the|the single)? ?(?P<w>rows?|lines?|records?|columns?)\b(?: (?:separately|by itself|individually))?",
)
_PLACES = w.Phrase(
    "decimal digit places whole integer",
    rf"(?i)[(,]*\s*\b(?:(?:with|to|rounded to|rounded|using|and|round to|rounding to) )*(?:(?P<n>{w.NUM}) (?:decimals?|decimal places?|digits? after the (?:decimal )?(?:point|comma)|places)|(?P<whole>(?:the nearest )?(?:whole numbers?|integers?)|no decimals|without decimals))\s*\)?",
)
_ROWS_WHOLE = w.Phrase(
    "whole full entire complete columns",
    r"(?i)\b(?:(?:as |with |show |print |give )?(?:me )?(?:the |its |their )?(?:whole|full|entire|complete) (?:rows?|lines?|records?|entry|entries)|all (?:its|the|their) columns)\b",
)
_NAMES_ONLY = w.Phrase(
    "name",
    r"(?i)\b(?:(?:print|show|give|tell|list|output|return|and|just|only) (?:me )?)*(?:(?:(?:the |its |their |his or her |her |his )?names?)(?: of (?:it|them|that one))?(?: only| alone| please)+|(?:only|just) (?:the |its |their |his or her |her |his )?names?)\b",
)


class Reckoning(ColumnReading):
    """One sentence; `reckon` gives the wish."""

    def reckon(self) -> Wish | None:
        """The wish; None where a word is left, or nothing is reckoned."""
        wish = self.wish
        places = self.take(_PLACES)
        if places:
            wish.places = int(w.number(places["n"])) if places["n"] else 0
        whole = self.take(_ROWS_WHOLE) is not None
        beside = self.take_if(
            "with includ",
            rf"\b(?:along |together )?(?:with|including) (?:their|its) {self.named}(?: and {self.named})?(?![\w-])",
        )
        self.name_wanted = self.take(_NAMES_ONLY) is not None
        self.take(w.BARE)
        if take_several(self):
            pass
        elif not take_extreme(self):
            self._calculation()
        elif not wish.group:
            self._grouped(False)
        take_answers(self)
        take_conditions(self)
        take_chosen(self)
        wish.conditions = [*self.asked.conditions, *wish.conditions]
        wish.texts = self.asked.texts
        self._ordered()
        if not wish.way:
            self._shown()
        if beside and (wish.way != "most" or wish.shown or self.name_wanted):
            return None  # only a whole line has that
        if not wish.way or not nothing_left(self) or not self._what_of_it(whole):
            return None
        return wish

    def _calculation(self) -> None:
        wish = self.wish
        line = self.take(_EACH_LINE)
        made = take_expression(self)
        means = (
            re.search(
                rf"(?i)\b(?P<name>[a-z]+)\b(?P<mid>[^;]*?)[,(]* *(?:i\.? ?e\.?|that is|meaning|which is|defined as|=|being),? *{VALUE}",
                self.rest,
            )
            if made
            else None
        )
        if means:  # "turnover per region, i.e. units times price"
            self.rest = f"{self.rest[: means.start()]} {VALUE} {means['mid']} {self.rest[means.end() :]}"
            self.rest = re.sub(rf"{VALUE} +of the [a-z]+ ", f"{VALUE} ", self.rest)
        title = (
            re.search(
                rf"(?i)\A[ ;]*(?:the )?[a-z]+(?P<mid>(?: (?:per|by|for each|for every) [a-z]+)?)[ ;]*[,(:]+ *{VALUE}",
                self.rest,
            )
            if made and not means
            else None
        )
        if title:  # the same, without a word for it
            self.rest = f" {VALUE} {title['mid']} {self.rest[title.end() :]}"
        mean, median = self.take(_MEAN) is not None, self.take(_MEDIAN) is not None
        total = self.take(_SUM) is not None
        if total and mean and self.wish.value == "":
            self.rest += " two-results"
        while total and not self.columns.names.keys() & {"total", "sum"} and self.take(_SUM):
            pass
        self._grouped(bool(total or mean or made))
        if line and not made:
            wish.way = (
                "width"
                if "row" in line["w"].lower() or "line" in line["w"].lower() or "record" in line["w"].lower()
                else "height"
            )
            wish.value = "mean" if mean else "sum" if total else ""
            if (
                not wish.value
                or median
                or self.columns.table.header
                or not all(self.is_number(str(at)) for at in range(1, len(self.rows[0]) + 1))
            ):
                wish.way = ""
            return
        if made:
            self._made(line is not None, total, mean)
            return
        if not (mean or median or total or wish.group):
            return
        wish.way = "median" if median else "average" if mean else "sum"
        if not self._operand(total or mean or median) or (median and wish.group):
            wish.way = ""

    def _made(self, line: bool, total: bool, mean: bool) -> None:
        """A calculation with a value of several columns: for each line, or of all."""
        wish = self.wish
        single = wish.group and self._is_key(wish.group)
        if total and not line and (not single or not wish.group):
            wish.way = "sum"
        elif mean and not line and not single:
            wish.way = "average"
        elif (
            line
            or single
            or (
                not wish.group
                and not total
                and not mean
                and re.search(rf"{self.named}(?:,| and|,? then)+ *(?:the )?{VALUE}", self.rest, re.IGNORECASE)
            )
        ):
            wish.way = "row"
            wish.shown = [*self._listed(), wish.value]
            if len(wish.shown) == 1 and wish.group:
                wish.shown.insert(0, f"${wish.group}")
            wish.group = ""
        elif wish.group and not self.added:
            wish.way = "sum"

    def _listed(self) -> list[str]:
        """The columns that are printed before a value."""
        found = self.take(
            rf"(?P<all>{self.named}(?:(?:, and |, | and ){self.named})*)(?:,? (?:and |then |and then )+|, *| *)(?={VALUE})"
        )
        if found is None:
            return []
        return ["$" + self.column(part) for part in re.split(r"(?i), and |, | and ", found["all"]) if self.column(part)]

    def _is_key(self, column: str) -> bool:
        values = self.values(column)
        return len(values) > 1 and len(set(values)) == len(values)

    def _grouped(self, surely: bool) -> None:
        found = self.take_if(
            "per by each every in on", rf"\b{_GROUP} (?P<c>{self.named})(?: separately| individually)?(?![\w-])"
        )
        if found:
            self.wish.group = self.column(found["c"])
        elif part := self.take(rf"\b{_GROUP} (?P<p>month|year|day)\b|\b(?P<q>monthly|yearly|daily)\b"):
            # "sales per month", where there is a column of days
            self.wish.group = date_column(self)
            said = (part["p"] or {"monthly": "month", "yearly": "year", "daily": "day"}[part["q"].lower()]).lower()
            self.wish.letters = {"year": 4, "month": 7, "day": 10}[said]
            if not self.wish.group:
                self.rest += " which-date"
        elif surely and (
            noun := self.take(
                r"\b(?:for|per|of) ?(?:each|every)? (?P<n>item|person|entry|product|student|employee|article)\b"
            )
        ):
            self.wish.group = "1" if self._is_key("1") and not self.is_number("1") else ""
            if not self.wish.group:
                self.rest += f" {noun['n']}"

    def _operand(self, said: bool) -> bool:
        """The column that is added up: named, told by its number, or the only one of numbers in a list of numbers."""
        wish = self.wish
        told = ""
        found = self.take(
            rf"(?P<c>{self.col})(?!\d)(?:[- ](?:marks?|scores?|points|columns?|fields?|values?|numbers?|grades?))? *[(,:]+ *(?P<d>col_\w+) *\)?"
        )
        if found is None:
            found = self.take(rf"(?<![\w-])(?:how (?:many|much) )?(?P<c>{self.named})(?![\w-])")
        if (
            found is None
            and said
            and len(totals := {self.columns.names[name] for name in ("total", "sum") if name in self.columns.names})
            == 1
        ):
            wish.columns = [*totals]
            self.by_total = True
            wish.value = f"${wish.columns[0]}"
            return self.is_number(wish.columns[0])
        if found is None:
            return False
        column = self.column(found["c"])
        if "d" in found.groupdict():
            told = self.names.get(found["d"].lower(), "")
        elif found["c"].strip().startswith(notes.BY_NUMBER):
            # "sum of the depths (third column)": the noun only says what stands there
            self.take(r"(?<=[;,]) *(?:\(|\))") or None
            noun = re.search(
                r"\A[ ;]*(?:the |all |of )*(?P<n>[a-z]+(?: of (?:an?|each|one|every) [a-z]+)?) *[(,]*(?= *[;(,\x02]| *in \x02)",
                self.rest,
                re.IGNORECASE,
            )
            if noun and said and noun["n"].lower() not in w.GLUE:
                self.rest = self.rest[noun.end() :]
        elif told := self.told_number():
            self.take(r"\bof (?:an?|each|one|every) [a-z]+\b")
        wish.value = f"${told or column}"
        wish.columns = [told or column]
        return self.is_number(told or column) and column != wish.group

    def _ordered(self) -> None:
        wish = self.wish
        if not wish.group and wish.way:
            return
        by = self.take_if(
            "by on",
            rf"\b(?:sorted|ordered|sort|order|ranked) (?:by|on) (?P<c>{self.named}|(?:the |that |their |its )?(?:sum|total|average|result|value|number|amount))(?![\w-])",
        )
        down, up = self.take(w.DESCENDING), self.take(w.ASCENDING)
        alphabet = self.take(w.ALPHABETICAL)
        if by and wish.group:
            wish.order = "key" if self.column(by["c"]) == wish.group else "value"
        elif by and self.column(by["c"]):
            wish.order = f"#{self.column(by['c'])}"
        elif by:
            self.rest += " unknown-order"
        elif wish.group and (down or up):
            wish.order = "value"
        elif wish.group and (alphabet or self.take(w.SORTED)):
            wish.order = "key"
        wish.reverse = down is not None
        limit = self.take(w.LIMIT) if wish.group else None
        if limit:
            wish.limit = int(w.number(limit["n"]))
            wish.order, wish.reverse = wish.order or "value", wish.reverse or limit["end"].lower() == "top"

    def _shown(self) -> None:
        """No calculation: columns of chosen lines, or how many such lines there are."""
        wish = self.wish
        if not (wish.conditions or wish.texts):
            self._columns_alone()
            return
        if self.take(w.HOW_MANY) or re.search(r"(?i)\bhow many\b", self.rest):
            self.take(r"\bhow many\b")
            wish.counted = True
            self.take(w.HOW_MANY_TAIL)
        wish.way = "list"
        found = (
            None
            if wish.counted
            else self.take(
                rf"(?<![\w-])(?P<all>{self.named}(?:(?:, and |, | and ){self.named})*)(?: only)?(?: of| from)?(?![\w-])"
            )
        )
        if found:
            columns = [self.column(part) for part in re.split(r"(?i), and |, | and ", found["all"])]
            if all(columns):
                wish.shown = [f"${column}" for column in columns]
        elif self.name_wanted or (not wish.counted and self.take(r"\b(?:the )?names?\b(?: of\b)?")):
            self.name_wanted = True

    def _columns_alone(self) -> None:
        """ "ports (second word)", "column 2, blanks as separators": columns by their number."""
        found = self.take(r"(?:\A|(?<=[ ;]))(?:(?P<n>[a-z]+) *[(,:]+ *)?(?P<c>col_\w+)(?: and (?P<d>col_\w+))? *\)?")
        if found is None or "name" in (found["n"] or ""):
            return
        self.wish.way, self.wish.skip = "list", self.wish.skip and self.header_told
        self.wish.shown = ["$" + self.names[said.lower()] for said in (found["c"], found["d"]) if said]

    def _what_of_it(self, whole: bool) -> bool:
        """What is printed of the lines that are wanted."""
        wish = self.wish
        if wish.way not in ("most", "list") or wish.counted or wish.shown:
            return not whole and not (self.name_wanted and (wish.counted or len(wish.shown) != 1))
        if not self.name_wanted:
            return True
        column = self.names.get("name") or self.asked_column
        if not column and not self.is_number("1"):
            column = "1"
        if not column or whole:
            return False
        wish.shown = [f"${column}"]
        return True
