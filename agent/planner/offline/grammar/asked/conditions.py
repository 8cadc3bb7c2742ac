"""Which lines: by a number in a column, by a value of a column, by a level, by a text or a word that the file has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.texts import take_levels, take_several, take_text
from agent.planner.offline.grammar.said.sentence_rules import unquoted

if TYPE_CHECKING:
    from agent.planner.offline.grammar.asked.peel import PeelBase

_COMPARED = (
    (r"(?:at least|no less than|not less than|no fewer than|not under|not below|minimum(?: of)?|>=)", ">="),
    (r"(?:at most|no more than|not more than|up to|not over|not above|maximum(?: of)?|<=)", "<="),
    (r"(?:over|above|more than|greater than|larger than|bigger than|higher than|exceed(?:s|ing)?|beyond|older than|longer than|dearer than|more expensive than|heavier than|taller than|warmer than|hotter than|better than|after|later than|>)", ">"),
    (r"(?:under|below|less than|fewer than|smaller than|lower than|younger than|cheaper than|lighter than|shorter than|colder than|cooler than|worse than|before|earlier than|<)", "<"),
)  # fmt: skip
_OF_COLUMN = {
    "older": ("age",), "younger": ("age",), "more expensive": ("price", "cost"), "dearer": ("price",), "cheaper": ("price", "cost"), "heavier": ("weight",),
    "lighter": ("weight",), "taller": ("height",), "warmer": ("temperature", "temp"), "hotter": ("temperature", "temp"), "colder": ("temperature", "temp"), "cooler": ("temperature", "temp"),
}  # fmt: skip
_AMOUNT = r"(?P<v>-?\d+(?:\.\d+)?)(?: (?:euros?|dollars?|years?(?: old)?|points?|percent|degrees?|kg|pieces?|units?))?"


def take_conditions(peel: PeelBase) -> None:
    """Take every condition out of what is left, and add it to the request."""
    _empty(peel)
    _code_only(peel)
    while _compared(peel) or _equal(peel):
        pass
    _answers(peel)
    take_several(peel)
    _lengths(peel)
    take_levels(peel)
    while take_text(peel):
        pass


def _empty(peel: PeelBase) -> None:
    if peel.take(
        r"\b(?:that |which )?(?:start(?:s|ing)?|begin(?:s|ning)?) with (?:a |any )?(?:digit|number|figure|numeral)s?\b"
    ):
        peel.asked.texts.append(("regex", "^[0-9]"))
    elif peel.take(r"\b(?:that |which )?end(?:s|ing)? (?:with|in) (?:a |any )?(?:digit|number|figure|numeral)s?\b"):
        peel.asked.texts.append(("regex", "[0-9]$"))
    if peel.take(
        r"\b(?:that |which )?(?:start(?:s|ing)?|begin(?:s|ning)?) with (?:a |an )?(?:capital|upper[- ]?case)(?: letters?)?\b"
    ):
        peel.asked.texts.append(("regex", "^[[:upper:]]"))


def _answers(peel: PeelBase) -> None:
    """What a web server answered."""
    column = peel.names.get("status")
    if column is None or column not in peel.columns.numeric:
        return
    found = peel.take(
        r"\b(?:that |which )?(?:(?:were|was|are|is|got|get|gets|have|had|ended|resulted|resulting|ending) )*(?:answered|returned|served|replied to|responded to|ended|in|returning|a|an|with|got)(?: with| in)?(?: a| an)?(?: (?:http )?(?:status|code|status code|answer|response))*(?: of)? (?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s?)*(?![\w.])"
    ) or peel.take(
        r"\b(?:(?:http )?(?:status|code|status code|error) )?(?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s?)?(?= (?:requests|hits|lines|answers|responses)\b)"
    )
    if found is None:
        found = peel.take(r"\b(?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s)\b")
        peel.asked.nouned = peel.asked.nouned or found is not None
    if found:
        peel.asked.conditions.append(f"{_awk(peel, column)} == {found['v']}")


def _awk(peel: PeelBase, number: str) -> str:
    return f"${number}"


def _code_only(peel: PeelBase) -> None:
    """Lines that are neither comments nor empty."""
    if peel.take(
        r"\b(?:that |which )?(?:are )?neither comments?(?: lines)? nor (?:blank|empty)(?: lines| ones)?\b"
    ) or re.search(
        r"(?i)\b(?:effective|active|actual|meaningful|uncommented|real|significant) (?:lines|settings|entries|rules|jobs)\b",
        peel.rest,
    ):
        peel.take(
            r"\b(?:effective|active|actual|meaningful|uncommented|real|significant)(?= (?:lines|settings|entries|rules|jobs)\b)"
        )
        peel.take(r"(?<=;) *(?:settings|rules|jobs)\b")
        peel.asked.texts += [("drop", "^[[:space:]]*#"), ("drop", "^[[:space:]]*$")]
        peel.asked.nouned = True


def _compared(peel: PeelBase) -> bool:
    if not peel.names or not re.search(r"(?<![\w.])-?\d", peel.rest):
        return False
    for said, way_of in _COMPARED:
        sign = way_of
        found = peel.take(
            rf"\b(?:(?:where|whose|with|that|which|who|having|and|for which|in which) )*(?:the |a |an |their |its )?(?P<c>{peel.named}) (?:that |which |value |is |are |was |of |being )*{said} {_AMOUNT}(?![\w.])"
        ) or peel.take(
            rf"\b(?:(?:with|that|which|who|have|has|having|earn(?:s|ing)?|cost(?:s|ing)?|scored|got|and|are|is|reached|weigh(?:s|ing)?) )*(?:a |an )?{said} {_AMOUNT}(?: of| in| on| for| at)?(?: the)? (?P<c>{peel.named})\b"
        )
        column = peel.column(found["c"]) if found else ""
        if found is None:
            way = (
                peel.take(
                    rf"\b(?:(?:that|which|who|and) )*(?:is |are |was |were )?(?P<w>{'|'.join(_OF_COLUMN)}) than {_AMOUNT}(?![\w.])"
                )
                if sign == ">"
                else None
            )
            if way:
                column = next((peel.names[n] for n in _OF_COLUMN[way["w"].lower()] if n in peel.names), "")
                low = way["w"].lower() in ("younger", "cheaper", "lighter", "colder", "cooler")
                found, sign = way, "<" if low else ">"
        if found and column and column in peel.columns.numeric:
            peel.asked.conditions.append(f"{_awk(peel, column)} {sign} {found['v']}")
            return True
        if found:
            peel.rest += " unknown-column"
            return False
    between = peel.says("between", "from") and peel.take(
        rf"\b(?:(?:where|whose|with|and) )?(?P<c>{peel.named}) (?:is |are |of )?(?:between|from) (?P<a>\d+(?:\.\d+)?) (?:and|to) (?P<b>\d+(?:\.\d+)?)\b"
    )
    if between and peel.column(between["c"]) in peel.columns.numeric:
        column = _awk(peel, peel.column(between["c"]))
        peel.asked.conditions.append(f"{column} >= {between['a']} && {column} <= {between['b']}")
        return True
    if between:
        peel.rest += " unknown-column"
    return False


def _cell(peel: PeelBase, said: str) -> tuple[str, str]:
    """The value that a word speaks of, with its column; ("", "") for none."""
    cells = peel.columns.table.cells
    if said in cells:
        return said, cells[said]
    same = [cell for cell in cells if cell.lower() == said.lower()]
    return (same[0], cells[same[0]]) if len(same) == 1 else ("", "")


def _equal(peel: PeelBase) -> bool:
    """Values of a column: "whose city is Oslo", "in Oslo", "with status 404"."""
    found = peel.says("where", "whose", "with", "hav", " and ") and peel.take(
        rf"\b(?:(?:where|whose|with|that have|who have|which have|having|and) )+(?:a |an |the )?(?P<c>{peel.named}) (?:is |are |equals |= |of |being |set to |equal to )?(?P<not>not )?(?P<v>{w.QUOTED}|[\w./@-]+)(?![\w/])"
    )
    if found:
        column, value = peel.column(found["c"]), unquoted(found["v"])
        sign = "!=" if found["not"] else "=="
        cell, where = _cell(peel, value)
        fields = [line.split(peel.columns.table.separator or None) for line in peel.columns.lines]
        there = {row[int(column) - 1].strip() for row in fields if len(row) >= int(column)}
        if column in peel.columns.numeric and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
            peel.asked.conditions.append(f"{_awk(peel, column)} {sign} {value}")
            return True
        if cell and where == column:
            value = cell
        ending = [one for one in there if one.endswith("/" + value)]
        if value in there:
            peel.asked.conditions.append(
                f'{_awk(peel, column)} {sign} "{value}"' if re.fullmatch(r"[\w .@/:+-]+", value) else ""
            )
        elif ending and all(re.fullmatch(r"[\w./-]+", one) for one in ending):
            peel.asked.conditions.append(
                " || ".join(f'{_awk(peel, column)} {sign} "{one}"' for one in sorted(set(ending)))
            )
        else:
            peel.rest += " unknown-value"
            return False
        if "" in peel.asked.conditions:
            peel.rest += " unknown-value"
            return False
        return True
    for found in re.finditer(
        r"\b(?:(?:in|from|at|of|for|by|with|called|named|coming from|based in|living in|working in) )(?:the )?(?P<v>'[^']+'|\"[^\"]+\"|[\w./@-]+)",
        peel.rest,
    ):
        cell, column = _cell(peel, unquoted(found["v"]))
        if cell and re.fullmatch(r"[\w .@/:+-]+", cell) and found["v"].lower() not in w.GLUE:
            peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"
            peel.asked.conditions.append(f'{_awk(peel, column)} == "{cell}"')
            return True
    return False


def _lengths(peel: PeelBase) -> None:
    found = peel.take(
        rf"\b(?:that |which |are |is |of |with |have |has |having )*(?:(?P<more>longer than|more than|over|at least)|(?P<less>shorter than|fewer than|less than|under|at most)|(?P<same>exactly))? ?(?P<n>{w.NUM})[- ](?:letters?|characters?|chars?)(?: long| each| in length)?\b"
    )
    if found is None:
        return
    number = int(w.number(found["n"]))
    more, less = (found["more"] or "").lower(), (found["less"] or "").lower()
    sign = (">=" if more == "at least" else ">") if more else "" if not less else "<=" if less == "at most" else "<"
    peel.asked.texts.append(("length", sign or "==", str(number)))
