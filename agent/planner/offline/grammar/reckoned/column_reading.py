"""A sentence about the columns of a file: the names that it may use for them, and what stands in them."""

from __future__ import annotations

import re

from msgspec import structs

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.peel import row_noun
from agent.planner.offline.grammar.asked.request import Peeling
from agent.planner.offline.grammar.asked.subject import Subject
from agent.planner.offline.grammar.reckoned import notes
from agent.planner.offline.grammar.reckoned.wish import Wish

# Stands where the value of several columns was.
VALUE = "\x04"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class ColumnReading(Peeling):
    """One sentence, its columns by all their names, and the wish that it comes to."""

    def __init__(self, subject: Subject) -> None:
        said = notes.numbered(subject.said.replace("?", ";"))
        said, sign = notes.parted(said)
        said, told = notes.headed(said)
        said = re.sub(
            r"(?i),? *(?:\(|\b)?(?:that(?:'s| is)|i\.?e\.?|which is|meaning|according to|it is|it's|looking at|taken from|going by|judging by)(?: in)? (col_\w+) *\)?",
            r" (\1) ",
            said,
        )
        super().__init__(subject)
        self.wish = Wish(separator=sign or self.columns.table.separator, skip=self.columns.table.header or told)
        self.header_told = told
        if sign == " ":
            self.wish.separator = ""
        self.rows = self._rows()
        said, names = notes.called(said, self.columns.names)
        said = (
            re.sub(
                r"(?i)(?:\b(?:in|of|from|on|according to|as per|recorded in|listed in|given in|by|taking)(?: the)?(?: table| list| file| log)? )?\x02",
                "",
                said,
            )
            + " \x02"
        )
        self.rest = f" {' '.join(said.split())} "
        self.names = {
            **self.names,
            **names,
            **{f"{notes.BY_NUMBER}{at}": str(at) for at in range(1, 30)},
            notes.LAST.lower(): "NF",
        }
        for name, number in names.items():
            self.names.setdefault(name + "s", number)
        words = sorted((name for name in self.names if not name.startswith(notes.BY_NUMBER)), key=len, reverse=True)
        self.col = "(?:" + "|".join((rf"{notes.BY_NUMBER}(?:\d+|NF)", *map(re.escape, words))) + ")"
        self.named = rf"(?:the |their |its |all )?{self.col}(?!\d)(?:[- ](?:marks?|scores?|points|columns?|fields?|values?|numbers?|grades?))?"
        numbers = {number for number in {*self.names.values()} if self.is_number(number)}
        self.columns = structs.replace(self.columns, numeric=self.columns.numeric | numbers)
        self.cells = self._cells()
        self.name_wanted = False
        self.asked_column = ""
        self.added = False
        self.by_total = False
        self.asked_how_much = re.search(r"(?i)\bhow much\b", subject.said) is not None

    def _rows(self) -> list[list[str]]:
        body = self.columns.lines[1:] if self.wish.skip else self.columns.lines
        return [line.split(self.wish.separator or None) for line in body]

    def _cells(self) -> dict[str, str]:
        """In which column a value stands; "" for several."""
        found: dict[str, str] = {}
        if len({len(row) for row in self.rows}) > 1 or len(self.rows[:1]) == 0 or len(self.rows[0]) > 8:
            return found
        for row in self.rows:
            for at, value in enumerate(row, 1):
                if found.setdefault(value, str(at)) != str(at):
                    found[value] = ""
        return found

    def values(self, column: str) -> list[str]:
        """What stands in a column, as far as the beginning of the file tells."""
        if column == "NF":
            return [row[-1].strip() for row in self.rows if row]
        if not column.isdecimal():
            return []  # what is reckoned from several, or cut out of one
        return [row[int(column) - 1].strip() for row in self.rows if len(row) >= int(column)]

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers, but for a dash now and then."""
        values = self.values(column) if column else []
        numbers = [value for value in values if _NUMBER.match(value)]
        return bool(numbers) and all(_NUMBER.match(value) or value in ("", "-") for value in values)

    def is_date(self, column: str) -> bool:
        values = self.values(column)
        return bool(values) and all(_DAY.match(value) for value in values)

    def stands_for_lines(self, noun: str) -> bool:
        """Whether a noun means the lines of the file."""
        return row_noun(noun, self)

    def take_if(self, beginnings: str, pattern: str) -> re.Match[str] | None:
        """Take a phrase out where one of some beginnings of words is there: patterns with the names of columns take time to make."""
        return self.take(pattern) if self.says(*beginnings.split()) else None

    def take_value(self, beginnings: str, pattern: str) -> re.Match[str] | None:
        """Take a phrase out for a value; a mark stays in its place."""
        if not self.says(*beginnings.split()):
            return None
        found = w.compiled(pattern).search(self.rest)
        if found is None:
            return None
        self.rest = re.sub(" +", " ", f"{self.rest[: found.start()]} {VALUE} {self.rest[found.end() :]}")
        return found

    def told_number(self) -> str:
        """The column that is told by its number only, at the side: "the coldest row (column 3)"."""
        found = self.take(r"[(,:]* *\b(?P<c>col_\w+) *\)?")
        return self.names.get(found["c"].lower(), "") if found else ""
