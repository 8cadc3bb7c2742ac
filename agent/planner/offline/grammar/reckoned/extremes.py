"""The lines with the largest or smallest value: "who is the oldest", "the coldest row", "which host has the most memory", "the three cheapest products"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w

if TYPE_CHECKING:
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

_LARGEST = ["highest", "largest", "biggest", "maximum", "maximal", "max", "greatest", "best", "most", "top"]
_SMALLEST = ["lowest", "smallest", "minimum", "minimal", "min", "least", "fewest", "worst", "poorest"]
_WAYS = " ".join((*_LARGEST, *_SMALLEST))
WAY = r"(?:" + "|".join((*_LARGEST, *_SMALLEST)) + ")"
# Adjectives that say by themselves of which column they speak, with whether its largest value is meant.
_MEANT = {
    "oldest": (("age",), True), "eldest": (("age",), True), "youngest": (("age",), False),
    "most expensive": (("price", "cost", "total", "amount"), True), "dearest": (("price", "cost", "total", "amount"), True), "priciest": (("price", "cost", "total", "amount"), True), "costliest": (("price", "cost", "total", "amount"), True),
    "least expensive": (("price", "cost", "total", "amount"), False), "cheapest": (("price", "cost", "total", "amount"), False),
    "coldest": (("temperature", "temp", "celsius", "degrees"), False), "coolest": (("temperature", "temp", "celsius", "degrees"), False),
    "warmest": (("temperature", "temp", "celsius", "degrees"), True), "hottest": (("temperature", "temp", "celsius", "degrees"), True),
    "heaviest": (("weight", "kg", "mass"), True), "lightest": (("weight", "kg", "mass"), False), "tallest": (("height",), True), "deepest": (("depth",), True),
    "shallowest": (("depth",), False), "best paid": (("salary", "wage", "pay", "income"), True), "best-paid": (("salary", "wage", "pay", "income"), True),
    "highest paid": (("salary", "wage", "pay", "income"), True), "highest-paid": (("salary", "wage", "pay", "income"), True), "highest earning": (("salary", "wage", "pay", "income"), True), "top earning": (("salary", "wage", "pay", "income"), True),
    "lowest paid": (("salary", "wage", "pay", "income"), False), "lowest-paid": (("salary", "wage", "pay", "income"), False), "worst paid": (("salary", "wage", "pay", "income"), False),
    "newest": (("date", "day"), True), "latest": (("date", "day"), True), "most recent": (("date", "day"), True), "earliest": (("date", "day"), False),
}  # fmt: skip
_EARN = r"(?:earns?|makes?|gets?|costs?|weighs?|scored|scores?|has|have|got|had|uses?|takes?|sold|owns?|offers?|shows?|reached|reaches|achieved|with|is of)"
_ROW = r"(?:rows?|lines?|records?|entry|entries|one|ones)"


def take_extreme(read: Reckoning) -> bool:
    """Take out which lines are wanted by a largest or smallest value."""
    return _of_adjective(read) or _of_column(read) or _of_value(read)


def _set(read: Reckoning, column: str, largest: bool, number: str) -> bool:
    if not column or not (read.is_number(column) or read.is_date(column)):
        read.rest += " no-number"
        return False
    wish = read.wish
    wish.way, wish.columns, wish.value, wish.largest = "most", [column], f"${column}", largest
    wish.limit = int(w.number(number)) if number else 1
    wish.by_text = not read.is_number(column)
    return True


def _noun(read: Reckoning, said: str, alone: bool) -> bool:
    """Whether a noun may stand for the lines: of a single thing the column of its name counts, too."""
    low = said.lower()
    return (
        bool(re.fullmatch(_ROW, low))
        or read.stands_for_lines(low)
        or (alone and low.rstrip("s") not in ("value", "number", "file"))
    )


def _of_adjective(read: Reckoning) -> bool:
    ways = "|".join(sorted(map(re.escape, _MEANT), key=len, reverse=True))
    found = read.take_if(
        "est expensive paid earning recent",
        rf"\b(?P<nm>(?:the )?names? of )?(?:which (?P<q>[a-z]+) (?:is|are|was) |who (?:is|are|was) |what (?:is|are) )?(?:the )?(?:(?P<n>{w.NUM}) )?(?P<w>{ways})(?: (?P<m>{w.NUM}))?(?: (?P<noun>[a-z]+))?(?= *(?:[;,.(\x02]|col_|in\b|of\b|from\b|by\b|on\b|per\b|for\b|each\b|\Z))",
    )
    if found is None:
        return False
    names, largest = _MEANT[found["w"].lower()]
    told = read.told_number()
    column = told or next((read.columns.names[name] for name in names if name in read.columns.names), "")
    if not column and "age" in names:
        born = [
            read.columns.names[name]
            for name in ("born", "birthday", "birth date", "date of birth", "birthdate", "birth year", "year of birth")
            if name in read.columns.names
        ]
        column, largest = (born[0], not largest) if len(born) == 1 else ("", largest)
    if not column and names[0] != "date" and found["w"].lower() in ("oldest",) and "date" in read.columns.names:
        column, largest = read.columns.names["date"], False
    if found["nm"]:
        read.name_wanted = True
    noun = found["noun"] or found["q"]
    if noun and not _noun(read, noun, True):
        read.rest += " unknown-noun"
    read.asked_column = read.names.get(found["q"].lower(), "") if found["q"] else ""
    return _set(read, column, largest, found["n"] or found["m"] or "")


def _of_column(read: Reckoning) -> bool:
    one = read.named
    found = read.take_if(
        _WAYS,
        rf"\b(?P<q>who|(?:which|what) (?P<noun>[a-z]+)|(?P<the>(?:the )?(?:name|row|line|record|entry)(?: of the [a-z]+| of the (?:one|person))?)|the (?P<thing>[a-z]+)|(?P<n>{w.NUM}) (?P<many>[a-z]+)) "
        rf"(?:that |which |who )?{_EARN} (?:the )?(?P<w>{WAY}) (?P<c>{one})(?![\w-])",
    ) or read.take(
        r"\b(?P<q>who) (?:earns?|makes?|gets?) (?:the )?(?P<w>most|least)(?: money)?(?= *(?:[;,.(\x02]|in\b|of\b|\Z))"
    )
    if found is None:
        return False
    parts = found.groupdict()
    noun = parts.get("noun") or parts.get("thing") or parts.get("many") or ""
    if noun and not _noun(read, noun, True):
        read.rest += " unknown-noun"
    if parts.get("c"):
        column = read.column(parts["c"])
    else:
        pay = {read.columns.names[name] for name in ("salary", "wage", "pay", "income") if name in read.columns.names}
        column = pay.pop() if len(pay) == 1 else ""
    if noun:
        read.asked_column = read.names.get(noun.lower(), "")
    if (parts.get("the") or "").lower().removeprefix("the ").startswith("name"):
        read.name_wanted = True
    return _set(read, column, parts["w"].lower() in _LARGEST, parts.get("n") or "")


def _of_value(read: Reckoning) -> bool:
    """ "the highest exam mark", "largest value in column 2", "maximum of price": the value itself."""
    one = read.named
    found = read.take_if(
        _WAYS,
        rf"\b(?:the )?(?P<w>{WAY})(?: of| in)?(?: (?:value|number|figure|entry|amount)(?: of| in| for)?)?(?: (?:the|all))? (?P<c>{one})(?: (?:found|reached|recorded|measured|listed|given|ever))*(?![\w-])",
    ) or read.take_if("max min", rf"\b(?P<c>{one})(?:'s)? (?P<w>maximum|minimum|max|min)\b")
    if found is None:
        return False
    column = read.column(found["c"])
    if not read.is_number(column):
        read.rest += " no-number"
        return False
    read.wish.way = "max" if found["w"].lower() in _LARGEST else "min"
    read.wish.columns, read.wish.value = [column], f"${column}"
    return True
