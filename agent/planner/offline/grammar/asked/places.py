"""Lines that are meant by their place in an order that the goal only hints at: "the three cheapest", "the newest entry"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w

if TYPE_CHECKING:
    from agent.planner.offline.grammar.asked.peel import PeelBase

_LARGE = ("largest", "biggest", "highest", "greatest")


def take_place(peel: PeelBase) -> None:
    """Take one such phrase out of what is left, and add it to the request."""
    _degree(peel) or _nth(peel) or _end_of_log(peel)


def _degree(peel: PeelBase) -> bool:
    """Adjectives that say of which column they speak."""
    asked = peel.asked
    pattern = rf"\b(?:the )?(?:(?P<n>{w.NUM}) )?(?P<a>{'|'.join(w.DEGREES)})(?P<first> (?:ones? )?(?:first|on top|at the top))?(?![\w-])"
    for found in w.compiled(pattern).finditer(peel.rest):
        names, large = w.DEGREES[found["a"].lower()]
        column = next((peel.names[name] for name in names if name in peel.names), "")
        if not column or column not in peel.columns.numeric:
            continue
        peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"
        asked.order, asked.order_cols, asked.reverse, asked.nouned = "column", [column], large, True
        if not found["first"]:
            asked.limit, asked.end = int(w.number(found["n"])) if found["n"] else 1, "first"
            noun = peel.take(r"(?<=; )(?:ones?|[a-z]+s?)(?= |;|,|\\Z)")
            asked.cols = []
            if noun and noun[0].lower() in w.GLUE:
                peel.rest += f" {noun[0]}"
        return True
    return False


def _nth(peel: PeelBase) -> bool:
    asked = peel.asked
    which = "|".join(w.NTH)
    if peel.columns.table.numbers_only:
        found = peel.take(
            rf"\b(?:the )?(?P<n>{which}) (?P<way>{'|'.join(_LARGE)}|smallest|lowest|least) (?:number|value|one|line)\b"
        )
        if found:
            asked.order, asked.head, asked.nth = "number", "lines", w.NTH[found["n"].lower()]
            asked.reverse = found["way"].lower() in _LARGE
            return True
    if peel.columns.list_like and not asked.order:
        found = peel.take(rf"\b(?:the )?(?P<n>{which}) (?:word|entry|item|name|line|value|number)\b")
        if found:
            asked.head, asked.nth = "lines", w.NTH[found["n"].lower()]
            return True
    return False


def _end_of_log(peel: PeelBase) -> bool:
    """The newest of lines that begin with their moment are the last."""
    asked = peel.asked
    if not peel.columns.moments:
        return False
    found = peel.take(
        rf"\b(?:the )?(?:(?P<n>{w.NUM}) )?(?P<w>newest|latest|most recent|oldest|earliest) (?:(?P<m>{w.NUM}) )?(?:log )?(?:entry|entries|lines?|messages?|records?|events?)\b"
    )
    if found is None:
        return False
    peel.take(r"\b(?:that is |so |that means )?the (?:bottom|last|top|first) (?:line|one|entry)\b")
    asked.head, asked.limit = "lines", int(w.number(found["n"] or found["m"] or "1"))
    asked.end = "last" if found["w"].lower() in ("newest", "latest", "most recent") else "first"
    return True
