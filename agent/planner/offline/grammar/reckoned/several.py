"""Several figures of one column at once: "mean, min and max of age", "the lowest and the highest price"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

_FIGURES = (
    (r"average|mean|avg", "s / n"),
    (r"minimum|min|smallest|lowest", "low"),
    (r"maximum|max|largest|highest|biggest", "high"),
    (r"sum|total", "s"),
    (r"count|number of values", "n"),
    (r"range|spread", "high - low"),
)
_ONE = rf"(?:the )?(?:{'|'.join(said for said, _ in _FIGURES)})(?: value)?"

_HIGH = r"(?:highest|largest|biggest|maximum|max)(?: value)?"
_LOW = r"(?:lowest|smallest|minimum|min)(?: value)?"


def _figure(said: str) -> str:
    word = re.sub(r"(?i)\Athe | value\Z", "", said.strip())
    return next(figure for pattern, figure in _FIGURES if re.fullmatch(pattern, word, re.IGNORECASE))


def take_several(read: Reckoning) -> bool:
    """Take out two or more figures of a column, or the difference between its largest and smallest value."""
    shown = ["high - low"]
    found = read.take_if(
        "difference",
        rf"\b(?:the )?difference between (?:the )?{_HIGH} and (?:the )?{_LOW}(?: of| for| in)? (?P<c>{read.named})(?![\w-])",
    ) or read.take_if("range spread", rf"\b(?:the )?(?:range|spread) of (?P<c>{read.named})(?![\w-])")
    if found is None:
        found = read.take_if(
            ", and",
            rf"\b(?P<ops>{_ONE}(?:(?:, and |, | and ){_ONE})+)(?: of| for| in)?(?: all)? (?P<c>{read.named})(?![\w-])",
        )
        shown = [_figure(said) for said in re.split(r"(?i), and |, | and ", found["ops"])] if found else []
    if found is None:
        return False
    column = read.column(found["c"])
    if not read.is_number(column):
        read.rest += " no-number"
        return False
    read.wish.way, read.wish.value, read.wish.columns, read.wish.shown = "several", f"${column}", [column], shown
    return True
