"""Values made of several columns of a line: "units times price", "the difference between high and low", "the sum of exam, project and bonus"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

_OPERATORS = (
    ("times multipl x *", r"times|multiplied (?:by|with)|x|\*", "*"),
    ("plus + added", r"plus|\+|added to", "+"),
    ("minus - less", r"minus|-|less", "-"),
    ("divided / over", r"divided by|/|over", "/"),
)


def take_expression(read: Reckoning) -> bool:
    """Take a value of several columns out of what is left."""
    one = read.named
    for beginnings, said, sign in _OPERATORS:
        found = read.take_value(beginnings, rf"(?:the )?(?P<a>{one}) ?(?:{said}) ?(?P<b>{one})(?![\w-])")
        if found:
            return _two(read, found["a"], found["b"], sign)
    for said, sign in (("product of", "*"), ("difference (?:between|of|in)", "-"), ("ratio (?:of|between)", "/")):
        found = read.take_value(
            said.partition(" ")[0], rf"\b(?:the )?{said} (?P<a>{one}) (?:and|to) (?P<b>{one})(?![\w-])"
        )
        if found:
            return _two(read, found["a"], found["b"], sign)
    several = rf"(?P<all>{one}(?:(?:, and |, | and | \+ ){one})+)"
    found = (
        read.take_value("sum total", rf"\b(?:the )?(?:sum|total) of (?:the )?{several}(?![\w-])")
        or read.take_value(
            "added summed combined together",
            rf"\b(?P<all>{one}(?:(?:, and |, | and | \+ ){one})+) (?:added up|added together|added|together|summed up|summed|combined)\b",
        )
        or read.take_value(
            "add sum",
            rf"\b(?:add(?:ing)?|sum(?:ming)?)(?: up| together)? (?:the )?{several}(?: together| up)?(?![\w-])",
        )
    )
    if found:
        return _all(read, found["all"], "")
    found = read.take_value("average mean", rf"\b(?:the )?(?:average|mean) (?:of|over) (?:the )?{several}(?![\w-])")
    return _all(read, found["all"], "mean") if found else False


def _two(read: Reckoning, first: str, second: str, sign: str) -> bool:
    columns = [read.column(first), read.column(second)]
    if not all(columns) or not all(read.is_number(column) for column in columns):
        read.rest += " no-number"
        return False
    read.wish.value = f"${columns[0]} {sign} ${columns[1]}"
    read.wish.columns = columns
    return True


def _all(read: Reckoning, said: str, way: str) -> bool:
    columns = [read.column(part) for part in re.split(r"(?i), and |, | and | \+ ", said)]
    if not all(columns) or len(columns) < 2 or not all(read.is_number(column) for column in columns):
        read.rest += " no-number"
        return False
    total = " + ".join("$" + column for column in columns)
    read.wish.value = f"({total}) / {len(columns)}" if way else total
    read.wish.columns = columns
    read.added = True
    return True
