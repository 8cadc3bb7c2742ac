"""Which lines, beyond what is said of columns by name: months and years of a date column, values before a noun, answers of a server, signs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.reckoned.notes import _SIGNS as SIGNS

if TYPE_CHECKING:
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "|".join(_MONTHS) + "|" + "|".join(month[:3] for month in _MONTHS)
_DAY = r"\d{4}-\d\d-\d\d"
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?![\w-])")
_SIDES = {"before": "<", "earlier than": "<", "until": "<=", "up to": "<=", "after": ">", "later than": ">", "since": ">=", "from": ">=", "starting": ">=", "on": "=="}  # fmt: skip
_PLAIN = re.compile(r"[\w .@/:+-]+\Z")


def take_chosen(read: Reckoning) -> None:
    """Take the conditions out of what is left that speak of kinds of values."""
    _signed(read)
    _aged(read)
    _dated(read)
    _valued(read)


def take_answers(read: Reckoning) -> None:
    """ "that gave a 404", "with 404 errors", "answered with 500", in a log of answers."""
    _answered(read)


def _signed(read: Reckoning) -> None:
    one = read.named
    found = read.take_if(
        "negative positive",
        rf"\b(?:with|where|having|whose|that have)? ?(?:a |the )?(?P<s>negative|positive) (?:value |number )?(?:in )?(?P<c>{one})(?: is)?(?![\w-])",
    ) or read.take_if(
        "negative positive zero",
        rf"\b(?:with|where|whose) (?:the )?(?P<c>{one}) (?:is |are |being )?(?P<s>negative|positive|below zero|above zero|under zero|over zero)\b",
    )
    if found and read.is_number(read.column(found["c"])):
        low = found["s"].lower()
        sign = ">" if low in ("positive", "above zero", "over zero") else "<"
        read.wish.conditions.append(f"${read.column(found['c'])} {sign} 0")
        read.take(
            r"\b(?:days|rows|lines|entries|values) (?:below|under) zero\b *:?"
            if sign == "<"
            else r"\b(?:days|rows|lines|entries|values) (?:above|over) zero\b *:?"
        )
        return
    if found:
        read.rest += " no-number"
    found = read.take_if(
        "' \" ` dash hyphen",
        rf"\b(?:with |having |who have |where there is )?(?:a |an )?(?P<s>{w.QUOTED}|dash|hyphen) in (?P<c>{one})(?![\w-])",
    )
    if found:
        raw = found["s"].strip("'\"`")
        value = SIGNS.get(raw.lower(), raw)
        column = read.column(found["c"])
        if column and value in read.values(column) and _PLAIN.match(value):
            read.wish.conditions.append(f'${column} == "{value}"')
        else:
            read.rest += " unknown-value"


_PERSON = r"(?:people|persons?|everyone|everybody|anyone|those|employees?|students?|customers?|users?|members?|patients?|men|women)"


def _aged(read: Reckoning) -> None:
    """ "people over 30", "everybody between 20 and 30", where there is a column of ages."""
    age = read.columns.names.get("age")
    if not age:
        return
    found = read.take_if(
        "over above under below exactly age",
        rf"\b{_PERSON} (?:who are |that are |aged |in {read.subject.path} )*(?P<s>over|above|under|below|exactly|of age|aged) (?P<n>\d{{1,3}})(?: years?(?: old)?)?(?![\w.%])",
    )
    if found:
        sign = {"over": ">", "above": ">", "under": "<", "below": "<"}.get(found["s"].lower(), "==")
        read.wish.conditions.append(f"${age} {sign} {found['n']}")
        return
    found = read.take(
        rf"\b{_PERSON} (?:who are |that are |aged )*between (?P<a>\d{{1,3}}) and (?P<b>\d{{1,3}})(?: years?(?: old)?)?(?![\w.%])"
    )
    if found:
        read.wish.conditions.append(f"${age} >= {found['a']} && ${age} <= {found['b']}")


def date_column(read: Reckoning) -> str:
    """The only column of days; "" for none, or several."""
    width = max((len(row) for row in read.rows), default=0)
    found = [
        str(at + 1)
        for at in range(width)
        if read.values(str(at + 1)) and all(_ISO.match(value) for value in read.values(str(at + 1)))
    ]
    return found[0] if len(found) == 1 else ""


def _dated(read: Reckoning) -> None:
    column = date_column(read)
    if not column:
        return
    said = r"\b(?:that (?:are|were) |made |sold |dated |which (?:are|were) )?"
    between = read.take(rf"{said}(?:between|from) (?P<a>{_DAY}) (?:and|to|until|till|through) (?P<b>{_DAY})(?![\w-])")
    if between:
        read.wish.conditions.append(f'${column} >= "{between["a"]}" && ${column} <= "{between["b"]}"')
        return
    month = read.take(
        rf"{said}(?:in|from|of|during|for|dated)(?: the month)?(?: of)? (?P<m>{_MONTH})\.?(?:,? (?:of )?(?P<y>\d{{4}}))?(?![\w-])"
    ) or read.take(rf"{said}(?:in|from|of|during|for) (?P<ym>\d{{4}}-\d\d)(?![\w-])")
    if month:
        parts = month.groupdict()
        if parts.get("ym"):
            start = parts["ym"]
        else:
            at = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == parts["m"].lower()[:3])
            years = {value[:4] for value in read.values(column)}
            year = parts["y"] or (years.pop() if len(years) == 1 else "")
            start = f"{year}-{at:02}" if year else ""
        if start:
            read.wish.conditions.append(f"${column} ~ /^{start}/")
        else:
            read.rest += " which-year"
        return
    year = read.take(rf"{said}(?:in|from|of|during|for)(?: the year)? (?P<y>(?:19|20)\d\d)(?![\w-])")
    if year:
        read.wish.conditions.append(f"${column} ~ /^{year['y']}/")
        return
    side = read.take(rf"{said}(?P<s>{'|'.join(_SIDES)}) (?P<d>{_DAY})(?: on(?:wards)?)?(?![\w-])")
    if side:
        read.wish.conditions.append(f'${column} {_SIDES[side["s"].lower()]} "{side["d"]}"')


def _answered(read: Reckoning) -> None:
    """ "that gave a 404", "with 404 errors", "answered with 500", in a log of answers."""
    status = read.names.get("status code")
    if not status:
        return
    verb = r"(?:gave|give|gives|giving|returned|return|returns|returning|got|get|getting|caused|cause|causing|produced|answered|were answered|was answered|resulted in|result in|resulting in|ended in|ended with|with|had|have|having|led to|responded|responding|failed with)"
    found = read.take(
        rf"\b(?:that |which |and )?{verb}(?: with| in| by)?(?: an?| the)?(?: http)?(?: status| code| status code| response| error)* ?(?P<c>[1-5]\d\d)s?(?: errors?| status(?: code)?| responses?| answers?| codes?)?(?![\w.])"
    ) or read.take(r"\b(?:an? |the )?(?P<c>[45]\d\d)s?(?= (?:errors?|responses?|answers?|requests?|hits|status)\b)")
    if found:
        read.wish.conditions.append(f"${status} == {found['c']}")


def _valued(read: Reckoning) -> None:
    """ "the debian machines", "services that are not running", "sales of apple"."""
    cells = read.columns.table.cells or read.cells
    found = read.take(
        r"\b(?:that|which|who) (?:are|is|were|was) (?P<no>not )?(?P<v>[\w.@/-]+)(?= *(?:[;,(\x02]|in\b|of\b|from\b|\Z))"
    )
    if found and not _is(read, found["v"], "!=" if found["no"] else "=="):
        read.rest += " unknown-value"
    elif found and (told := read.told_number()) and not read.wish.conditions[-1].startswith(f"${told} "):
        read.rest += " another-column"
    for match in re.finditer(r"(?<![\w'\"])(?P<v>[\w.@/-]+) (?=[a-z]{3,})", read.rest):
        column = cells.get(match["v"])
        if column and match["v"].lower() not in w.GLUE and not match["v"].isdigit() and _is(read, match["v"], "=="):
            read.rest = f"{read.rest[: match.start()]} {read.rest[match.end() :]}"
            return


def take_value_alone(read: Reckoning, said: str) -> bool:
    """Whether a word that is left stands in one column only; its lines are meant then."""
    return said not in w.GLUE and not said.isdigit() and _is(read, said, "==")


def _is(read: Reckoning, said: str, sign: str) -> bool:
    cells = read.columns.table.cells or read.cells
    same = [cell for cell in cells if cell.lower() == said.lower()]
    if len(same) != 1 or not _PLAIN.match(same[0]) or not cells[same[0]]:
        return False
    read.wish.conditions.append(f'${cells[same[0]]} {sign} "{same[0]}"')
    return True
